// The training views: #/training, #/training/RUN[/games|learning|settings], #/training/compare.
// Chooses the page; data come from /api/runs (web/training/routes.py).
import { fill, h } from "../dom.js";
import { showComparison } from "./compare.js";
import { showRun } from "./run.js";
import { showList } from "./runs.js";

export const title = "Training";

/** @type {import("../router.js").View["show"]} */
export function show(container, context, path, query) {
  const page = h("div", { class: "training" });
  fill(container, page);
  if (!path.length) return showList(page, context);
  if (path[0] === "compare") return showComparison(page, query.getAll("run"));
  return showRun(page, context, path[0], path.slice(1), query);
}
