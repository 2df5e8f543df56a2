// Starts the page: theme, connection, router. The page is painted before the server has answered.
import { byId, fill, h } from "./dom.js";
import { Router } from "./router.js";
import { Socket } from "./socket.js";
import { startTheme } from "./theme.js";

const socket = new Socket();
/** @type {Router | null} */
let router = null;
const view = byId("view");
const connection = byId("connection");

startTheme();
fill(view, h("div", { class: "empty" }, h("p", null, "Connecting …")));

socket.addEventListener("open", () => {
  connection.textContent = "";
  connection.dataset.state = "open";
  if (router || !socket.welcome) {
    if (router && socket.welcome) router.context.welcome = socket.welcome;
    return;
  }
  router = new Router(view, {
    socket,
    welcome: socket.welcome,
    go: (address) => {
      location.hash = address;
    },
  });
  void router.follow();
});
socket.addEventListener("lost", () => {
  connection.dataset.state = "lost";
  connection.textContent = "Reconnecting …";
  if (!router) fill(view, h("div", { class: "empty" }, h("h1", null, "The server does not answer"), h("p", null, "Is `zermelo web` still running? This page tries again by itself.")));
});
socket.connect();
