// A whole game judged position by position: progress, values over the game, marks for bad moves.
// Knows how marks are given, which is as `zermelo annotate` gives them; nothing of the page.
import { Refused } from "../socket.js";

/**
 * @typedef {import("../protocol").Judged} Judged
 * @typedef {import("../protocol").Line} Line
 * @typedef {import("../protocol").Board} Position
 * @typedef {import("../protocol").Limits} Limits
 * @typedef {{sign: string, tone: string, title: string}} MoveMark
 */

const AT_ONCE = 2;

/**
 * Judges every position; `tell` is called after each. Ends early when `signal` says so.
 * @param {import("../socket.js").Socket} socket
 * @param {Line} line
 * @param {string} network
 * @param {number} simulations
 * @param {(ply: number, judged: Judged) => void} tell
 * @param {AbortSignal} signal
 */
export async function review(socket, line, network, simulations, tell, signal) {
  let next = 0;
  const work = async () => {
    while (next <= line.moves.length && !signal.aborted) {
      const ply = next++;
      tell(ply, await patiently(socket, { type: "judge", line: { ...line, moves: line.moves.slice(0, ply) }, network, simulations }, signal));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Comes again when the server is busy. @param {import("../socket.js").Socket} socket @param {Record<string, any>} request @param {AbortSignal} signal */
async function patiently(socket, request, signal) {
  for (;;) {
    try {
      return await socket.ask(request);
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== 503 || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000 * (error.retryAfter ?? 1)));
    }
  }
}

/** A judgement for the first player. @param {{turn: number, value: number}} judged */
export function forFirst(judged) {
  return judged.turn === 0 ? judged.value : -judged.value;
}

/**
 * Marks of moves that gave expected score away.
 * @param {Position[]} boards @param {Map<number, Judged>} judged @param {Limits} limits
 * @returns {Map<number, MoveMark>}
 */
export function marksOf(boards, judged, limits) {
  const marks = new Map();
  for (let ply = 1; ply < boards.length; ply++) {
    const before = judged.get(ply - 1);
    const after = judged.get(ply);
    const best = before?.rows[0];
    if (!before || !after || !best || best.move === boards[ply]?.move) continue;
    const mover = boards[ply - 1]?.turn === 0 ? 1 : -1;
    const drop = (mover * (forFirst(before) - forFirst(after))) / 2;
    const tone = drop >= limits.blunder ? "blunder" : drop >= limits.mistake ? "mistake" : drop >= limits.inaccuracy ? "inaccuracy" : "";
    if (!tone) continue;
    const sign = { blunder: "??", mistake: "?", inaccuracy: "?!" }[tone];
    marks.set(ply, { sign, tone, title: `${tone}: ${Math.round(100 * drop)} % of the score given away, ${best.move} was better` });
  }
  return marks;
}
