// The dialog to take a game along or bring one: moves, position, PGN. What is pasted is read by the
// server, and shown as text only.
import { fill, h, toast } from "../dom.js";
import { Refused } from "../socket.js";

/**
 * @typedef {import("../protocol").Line} Line
 * @typedef {import("../protocol").GameOffer} GameOffer
 * @typedef {import("../router.js").Context} Context
 */

/** @param {Context} context @param {GameOffer} game @param {Line} line @param {(line: Line, title: string) => void} load */
export async function shareDialog(context, game, line, load) {
  const outputs = h("div", { class: "stack tight" });
  const pasted = h("textarea", { rows: 4, id: "pasted", spellcheck: "false" });
  const wrong = h("p", { class: "notice bad", hidden: true, role: "alert" });
  const kinds = ["moves", game.reads_positions ? (game.reads_pgn ? "a FEN" : "a position") : "", game.reads_pgn ? "a PGN" : ""].filter(Boolean);
  const dialog = h("dialog", { "aria-labelledby": "share-title", class: "share" },
    h("div", { class: "stack" },
      h("h2", { id: "share-title" }, "Share or load"),
      outputs,
      h("label", { class: "field" }, h("span", null, `Load ${kinds.join(", ")}`), pasted),
      wrong,
      h("div", { class: "row" },
        h("button", { type: "button", class: "button main", onclick: () => void read() }, "Load"),
        h("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Close"))));

  async function read() {
    try {
      const answer = await context.socket.ask({ type: "read", game: game.id, text: pasted.value });
      dialog.close();
      load(answer.line, answer.title);
    } catch (error) {
      wrong.hidden = false;
      wrong.textContent = error instanceof Refused ? error.message : String(error);
    }
  }

  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
  const link = new URL(location.href);
  const query = new URLSearchParams({ game: game.id, moves: line.moves.join(" ") });
  if (line.start) query.set("start", line.start);
  link.hash = `#/analyse?${query}`;
  try {
    const written = await context.socket.ask({ type: "write", line });
    fill(outputs, [["Moves", written.moves], ["Position", written.position], ["PGN", written.pgn], ["Link", link.href]]
      .filter(([, text]) => text).map(([name, text]) => copied(/** @type {string} */ (name), /** @type {string} */ (text))));
  } catch (error) {
    fill(outputs, h("p", { class: "notice bad" }, String(error instanceof Error ? error.message : error)));
  }
}

/** @param {string} name @param {string} text */
function copied(name, text) {
  const field = h("textarea", { rows: name === "PGN" ? 4 : 1, readonly: true, "aria-label": name, "data-share": name.toLowerCase() });
  field.value = text;
  return h("div", { class: "copied" }, h("span", { class: "label" }, name), field,
    h("button", {
      type: "button", class: "button", "aria-label": `Copy ${name.toLowerCase()}`,
      onclick: async () => {
        field.select();
        try {
          await navigator.clipboard.writeText(text);
          toast("Copied");
        } catch {
          toast("Press Ctrl+C to copy");
        }
      },
    }, "Copy"));
}
