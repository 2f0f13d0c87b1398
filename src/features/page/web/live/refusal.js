/** Why the stream does not open: the texts of the banner, and how long to wait before the next attempt. */

/** Waits in ms, longer after each failure. A busy server is tried seldom, and so is what a person must mend. */
const soon = [500, 1_000, 2_000, 5_000];
const seldom = [5_000, 10_000, 20_000, 30_000];

/** The stream opened, and ended or fell silent. */
export const ended = { text: "", waits: soon };
/** The stream opened, and no message came. */
export const silent = {
  text: "No message arrives: rolecall hangs, or a proxy holds the stream back.",
  waits: soon,
};
/** The server cannot be reached. */
export const unreachable = {
  text: "rolecall cannot be reached: it does not run, or the network fails.",
  waits: soon,
};

/** What a stream of one cluster answers that this server, or this listener, does not have. */
export const absent = { text: "", waits: seldom, isAbsent: true };

const texts = {
  401: "The server requires credentials (401). Reload the page to sign in.",
  403: "The server does not allow this address or user (403).",
  404: "The server has no such stream (404). It does not monitor this cluster, or the path leads elsewhere.",
  429: "Too many streams are open (429): at most 16 for one client, 64 in all. Close other pages of rolecall.",
};

/**
 * What an answer to `HEAD events/stream` says of the stream.
 * @param answer a Response, or what has its `type`, `status` and `headers`
 * @param isOfOne whether the stream of one cluster was asked for
 * @returns `{ text, waits, leastMs }`; null if the stream can be opened
 */
export function refusalOf({ type, status, headers }, isOfOne = false) {
  const leastMs = 1_000 * Math.min(Number(headers.get("retry-after")) || 0, 60);
  const refusal = (text, waits = seldom) => ({ text, waits, leastMs });
  if (type === "opaqueredirect")
    return refusal("A redirect is received instead of the stream: a proxy may want a sign-in. Reload the page.");
  if (status >= 500)
    return refusal(`The server, or a proxy before it, answers ${status}.`, leastMs > 0 ? seldom : soon);
  // A proxy may refuse HEAD and pass GET on.
  if (status === 405) return null;
  // Nothing else is wrong with what the page asks for.
  if (status === 400 && isOfOne) return absent;
  if (status !== 200) return refusal(texts[status] ?? `The server answers ${status}.`);
  const received = (headers.get("content-type") ?? "nothing").split(";")[0];
  if (received === "text/event-stream") return null;
  if (received === "text/html")
    return refusal("A page is received instead of the stream: a proxy may want a sign-in. Reload the page.");
  return refusal(`Something other than a stream is received (${received}): a proxy may have replaced it.`);
}

/** The wait after so many failures in a row, with jitter, so that many pages do not come at once. */
export function waitMs({ waits, leastMs = 0 }, failures, random = Math.random()) {
  const wait = waits[Math.min(failures, waits.length - 1)] * (0.75 + random / 2);
  return Math.max(wait, leastMs);
}
