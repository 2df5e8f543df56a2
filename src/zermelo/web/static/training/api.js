// Asks the server about runs. What it refuses is an Error with its sentence.

/**
 * @param {string} path below /api/runs
 * @param {Record<string, string | number | string[] | null | undefined>} [query]
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function read(path, query = {}, signal) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) search.append(name, String(each));
  }
  const text = search.toString();
  return answered(await fetch(`/api/runs${path}${text ? `?${text}` : ""}`, { signal }));
}

/** @param {string} path @param {unknown} [body] */
export async function tell(path, body) {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body ?? {}) };
  return answered(await fetch(`/api/runs${path}`, init));
}

/** @param {Response} response */
async function answered(response) {
  /** @type {any} */
  let found = null;
  try {
    found = await response.json();
  } catch {
    throw new Error("The server's answer cannot be read.");
  }
  if (!response.ok) throw new Error(sentence(found?.reason ?? `The server says ${response.status}.`));
  return found;
}

/** @param {string} text */
function sentence(text) {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
