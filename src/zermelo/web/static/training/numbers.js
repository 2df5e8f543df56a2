// Numbers and times as people read them. The forms are those of web/training/panels.py.

const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** @param {number | null | undefined} value @param {string} form */
export function written(value, form) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (form === "share" && Math.abs(value) < 0.0005) return "0 %";
  if (form === "share") return `${(100 * value).toFixed(Math.abs(value) < 0.1 ? 1 : 0)} %`;
  if (form === "elo") return `${value > 0 ? "+" : value < 0 ? "−" : ""}${WHOLE.format(Math.abs(value))}`;
  if (form === "bytes") return bytes(value);
  if (form === "rate" || form === "count") {
    const large = Math.abs(value) >= 10000;
    const text = large ? COMPACT.format(value) : Math.abs(value) < 10 && !Number.isInteger(value) ? value.toFixed(Math.abs(value) < 1 ? 2 : 1) : WHOLE.format(value);
    return form === "rate" ? `${text}/s` : text;
  }
  const size = Math.abs(value);
  if (size >= 1000) return COMPACT.format(value);
  if (size >= 100 || (Number.isInteger(value) && size >= 10)) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  if (size >= 0.1) return value.toFixed(3).replace(/0+$/, "").replace(/\.$/, "");
  if (size >= 0.001) return value.toFixed(4).replace(/0+$/, "");
  return size === 0 ? "0" : value.toExponential(1);
}

/** @param {number} value */
export function bytes(value) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let step = 0;
  while (Math.abs(value) >= 1024 && step < units.length - 1) {
    value /= 1024;
    step += 1;
  }
  return `${value.toFixed(value < 10 && step > 0 ? 1 : 0)} ${units[step]}`;
}

/** @param {number | null | undefined} seconds */
export function lasting(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 1) return "under a second";
  const whole = Math.round(seconds);
  const [days, hours, minutes] = [Math.floor(whole / 86400), Math.floor(whole / 3600) % 24, Math.floor(whole / 60) % 60];
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  if (minutes) return `${minutes} min ${whole % 60} s`;
  return `${whole} s`;
}

/** How long ago. @param {number} then in seconds since 1970 @param {number} [now] the same */
export function ago(then, now = Date.now() / 1000) {
  const seconds = Math.max(0, now - then);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  if (seconds < 30 * 86400) return `${Math.floor(seconds / 86400)} d ago`;
  return new Date(then * 1000).toISOString().slice(0, 10);
}

/**
 * Round numbers for an axis.
 * @param {number} low @param {number} high @param {number} about how many
 * @param {number} [base] 1024 for bytes
 * @returns {number[]}
 */
export function ticks(low, high, about, base = 10) {
  if (base === 1024) {
    const unit = 1024 ** Math.floor(Math.log(Math.max(1, high)) / Math.log(1024));
    return ticks(low / unit, high / unit, about).map((each) => each * unit);
  }
  if (!(high > low)) return [low];
  const rough = (high - low) / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? 10 * power;
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) {
    found.push(Number((i * step).toPrecision(12)));
  }
  return found;
}
