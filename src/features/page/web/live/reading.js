import { durationText } from "../parts/format.js";

/**
 * What is known of something. Every panel shows a reading, and says "none" of what is known alone.
 *
 * - `{ kind: "loading" }`: asked, and not answered yet
 * - `{ kind: "unknown", why, status, last }`: the request failed, or nothing arrives any more. `status` is that of the
 *   answer, or null; `last` what was known before, or null
 * - `{ kind: "known", data }`
 */
export const loading = { kind: "loading" };

/** What was answered. */
export function known(data) {
  return { kind: "known", data };
}

/** What could not be read, and why: a clause without its full stop. */
export function unknown(why, { status = null, last = null } = {}) {
  return { kind: "unknown", why, status, last };
}

/** The data of a reading, although it may be old; null if nothing was ever known. */
export function dataOf(reading) {
  return reading.kind === "known" ? reading.data : (reading.last ?? null);
}

/** A part of a reading, in the same state. */
export function partOf(reading, pick) {
  const data = dataOf(reading);
  if (reading.kind === "known") return known(pick(data));
  return data === null ? reading : { ...reading, last: pick(data) };
}

/** What a server without this document has: the feature is not in use, or not in this version. */
export function orNone(reading, none) {
  return reading.kind === "unknown" && reading.status === 404 ? known(none) : reading;
}

/** A document that the stream goes on with: known only while both are. */
export function withStream(reading, store) {
  const stream = streamOf(store);
  if (reading.kind !== "known" || stream.kind === "known") return reading;
  return stream.kind === "loading" ? loading : { ...stream, last: reading.data };
}

/** Whether the stream tells what is: then what has not come has not happened. */
export function streamOf(store) {
  if (store.isPast || store.state === "live") return known(null);
  if (store.state === "connecting") return loading;
  if (store.state === "absent") return unknown("rolecall does not monitor this cluster");
  return unknown(`nothing arrived from rolecall for ${durationText(performance.now() - store.receivedMs)}`);
}

/** A reading in words, in place of what it would show; null if it is known. @param what such as `events` */
export function wordsFor(reading, what) {
  if (reading.kind === "known") return null;
  if (reading.kind === "loading") return `Reading ${what}.`;
  return `Not known: ${what}. ${reading.why.charAt(0).toUpperCase()}${reading.why.slice(1)}.`;
}
