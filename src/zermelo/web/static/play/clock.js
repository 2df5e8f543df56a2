// Two clocks, kept by the page: whose turn it is loses time. Knows seconds, nothing of boards.

export class Clock {
  /** @param {number} seconds for each side; 0 is no clock @param {(left: number[], flag: number | null) => void} tick */
  constructor(seconds, tick) {
    this.on = seconds > 0;
    this.left = [seconds, seconds];
    this.tick = tick;
    /** @type {number | null} */
    this.side = null;
    this.since = 0;
    this.timer = this.on ? setInterval(() => this.#count(), 200) : undefined;
  }

  /** Whose time runs now; null stops both. @param {number | null} side */
  turn(side) {
    if (!this.on) return;
    this.#count();
    this.side = side;
    this.since = performance.now();
  }

  #count() {
    if (this.side === null) return;
    const now = performance.now();
    const left = /** @type {number} */ (this.left[this.side]) - (now - this.since) / 1000;
    this.left[this.side] = Math.max(0, left);
    this.since = now;
    const flag = left <= 0 ? this.side : null;
    if (flag !== null) this.side = null;
    this.tick(this.left, flag);
  }

  close() {
    clearInterval(this.timer);
  }
}

/** @param {number} seconds */
export function clockText(seconds) {
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
