import { toneOfEvent } from "../parts/condition.js";
import { countText, wordsOf } from "../parts/format.js";

/** How many marks the time line has room for: at 375 px one for each pixel. */
export const marksMax = 320;
/** How many events the text of a mark names. */
const namedMax = 5;
const severities = ["ok", "warn", "bad"];

/**
 * The marks of a time line. Events that are too close to be told apart have one mark, with the tone of the worst.
 * @param events with their `atMs`, oldest first
 * @returns `{ atMs, tone, text }`, oldest first
 */
export function mergedMarks(events, { fromMs, toMs }) {
  const stepMs = Math.max(1, (toMs - fromMs) / marksMax);
  const merged = new Map();
  for (const event of events) {
    if (event.atMs < fromMs) continue;
    const place = Math.min(marksMax - 1, Math.floor((event.atMs - fromMs) / stepMs));
    const known = merged.get(place);
    if (known === undefined) merged.set(place, [event]);
    else known.push(event);
  }
  return [...merged.values()].map((group) => ({
    atMs: group[0].atMs,
    tone: severities[Math.max(...group.map((event) => severities.indexOf(toneOfEvent(event))))],
    text: textOf(group),
  }));
}

function textOf(group) {
  const named = group.slice(0, namedMax).map(({ kind, message }) => `${wordsOf(kind)}: ${message}`);
  if (group.length === 1) return named[0];
  const more = group.length - named.length;
  return [countText(group.length, "event"), ...named, ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}
