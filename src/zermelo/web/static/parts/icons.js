// Pictures of buttons, as lines on 24 x 24.
import { icon } from "../dom.js";

export const undo = () => icon("M9 14L4 9l5-5", "M4 9h10a6 6 0 0 1 0 12h-3");
export const flip = () => icon("M7 4v14M7 18l-3-3M7 18l3-3", "M17 20V6M17 6l-3 3M17 6l3 3");
export const hint = () => icon("M9 18h6M10 21h4", "M12 3a6 6 0 0 0-4 10.5c.7.7 1 1.500 1 2.500h6c0-1 .3-1.800 1-2.500A6 6 0 0 0 12 3z");
export const share = () => icon("M12 15V4M12 4L8 8M12 4l4 4", "M5 12v7a1 1 0 0 0 1 1h12a1 1 0 0 0 1-1v-7");
export const first = () => icon("M18 6l-6 6 6 6", "M8 6v12");
export const back = () => icon("M15 6l-6 6 6 6");
export const next = () => icon("M9 6l6 6-6 6");
export const last = () => icon("M6 6l6 6-6 6", "M16 6v12");
export const search = () => icon("M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14z", "M20 20l-4-4");
export const plus = () => icon("M12 5v14M5 12h14");
export const play = () => icon("M8 5l11 7-11 7z");
export const stop = () => icon("M7 7h10v10H7z");
