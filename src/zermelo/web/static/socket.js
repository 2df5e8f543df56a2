// The connection to the server: requests with their replies, events, and coming back by itself.
// Knows the protocol's envelope (docs/guide/web.md), nothing of what messages mean.

/**
 * @typedef {import("./protocol").Request} Request
 * @typedef {import("./protocol").Answer} Answer
 * @typedef {import("./protocol").Welcome} Welcome
 */

/** Why a request was not done. */
export class Refused extends Error {
  /** @param {import("./protocol").Refused} answer */
  constructor(answer) {
    super(answer.reason);
    this.code = answer.code;
    this.retryAfter = answer.retry_after ?? null;
    this.place = answer.place ?? null;
  }
}

const VERSION = 1;
const FIRST_PAUSE = 300; // milliseconds before the first new attempt, doubled up to the longest
const LONGEST_PAUSE = 5000;

export class Socket extends EventTarget {
  /** @type {WebSocket | null} */
  #socket = null;
  /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
  #waiting = new Map();
  #serial = 0;
  #pause = FIRST_PAUSE;
  /** @type {Welcome | null} */
  welcome = null;

  /** Connects, and again whenever the connection is lost. "open" is fired each time. */
  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws`);
    this.#socket = socket;
    socket.addEventListener("open", () => void this.#greet(socket));
    socket.addEventListener("message", (event) => this.#take(JSON.parse(event.data)));
    socket.addEventListener("close", () => this.#lost(socket));
  }

  get connected() {
    return this.#socket?.readyState === WebSocket.OPEN && this.welcome !== null;
  }

  /**
   * Sends a request; the reply, or a Refused.
   * @param {Record<string, any>} request without its id
   * @returns {Promise<any>}
   */
  ask(request) {
    return new Promise((resolve, reject) => {
      if (this.#socket?.readyState !== WebSocket.OPEN) {
        reject(new Refused({ type: "refused", code: 0, reason: "The server cannot be reached." }));
        return;
      }
      const id = ++this.#serial;
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ ...request, id }));
    });
  }

  /**
   * Calls `listener` with every event of a type; the return value ends that.
   * @param {string} type
   * @param {(message: any) => void} listener
   */
  on(type, listener) {
    /** @param {Event} event */
    const heard = (event) => listener(/** @type {CustomEvent} */ (event).detail);
    this.addEventListener(`message:${type}`, heard);
    return () => this.removeEventListener(`message:${type}`, heard);
  }

  /** @param {WebSocket} socket */
  async #greet(socket) {
    try {
      const before = this.welcome?.server;
      this.welcome = await this.ask({ type: "hello", version: VERSION });
      this.#pause = FIRST_PAUSE;
      const restarted = before !== undefined && before !== this.welcome?.server;
      this.dispatchEvent(new CustomEvent("open", { detail: { again: before !== undefined, restarted } }));
    } catch (error) {
      if (error instanceof Refused && error.code === 426) location.reload();
      else socket.close();
    }
  }

  /** @param {any} message */
  #take(message) {
    if (message.reply === null || message.reply === undefined) {
      this.dispatchEvent(new CustomEvent(`message:${message.type}`, { detail: message }));
      return;
    }
    const waiting = this.#waiting.get(message.reply);
    this.#waiting.delete(message.reply);
    if (message.type === "refused") waiting?.reject(new Refused(message));
    else waiting?.resolve(message);
  }

  /** @param {WebSocket} socket */
  #lost(socket) {
    if (socket !== this.#socket) return;
    for (const { reject } of this.#waiting.values()) {
      reject(new Refused({ type: "refused", code: 0, reason: "The connection was lost." }));
    }
    this.#waiting.clear();
    this.dispatchEvent(new CustomEvent("lost"));
    setTimeout(() => this.connect(), this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
  }
}
