/** Figures as text. Every function returns "unknown" figures as a dash. */

const dash = "–";
const units = ["B", "kB", "MB", "GB", "TB", "PB"];

/** Bytes in powers of 1024, as rolecall reads them: 0 B, 12 kB, 3.4 MB. */
export function bytesText(bytes) {
  if (bytes === null || bytes === undefined) return dash;
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 10 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/** A duration: 850 ms, 2.1 s, 4 min 10 s, 3 h 5 min, 2 d 4 h. */
export function durationText(ms) {
  if (ms === null || ms === undefined) return dash;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`;
}

/** An age that counts live: in whole seconds, so that it does not flicker. Below 10 s with one digit. */
export function ageText(ms) {
  if (ms === null || ms === undefined) return "never";
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s`;
  return durationText(ms);
}

// Made once: a formatter costs much more than a text.
const timeOfDay = new Intl.DateTimeFormat([], {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

/** The time of day of an instant, with the day if it is another one. */
export function timeText(instant, now = new Date()) {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return dash;
  const time = timeOfDay.format(at);
  return at.toDateString() === now.toDateString() ? time : `${at.toLocaleDateString()} ${time}`;
}

const dateAndTime = new Intl.DateTimeFormat([], {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
});

/** An instant with its day and zone, and with its year if that is another one. */
export function dateText(instant, now = new Date()) {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return dash;
  return at.getFullYear() === now.getFullYear()
    ? dateAndTime.format(at)
    : `${at.getFullYear()} ${dateAndTime.format(at)}`;
}

/** The zone of the times in this browser, for axes that have no room for it: UTC, GMT+2. */
export function zoneText(now = new Date()) {
  return dateAndTime.formatToParts(now).find(({ type }) => type === "timeZoneName")?.value ?? "local time";
}

/** A WAL position as PostgreSQL writes it: 0/3000148. */
export function lsnText(position) {
  if (position === null || position === undefined) return dash;
  const low = position % 0x1_0000_0000;
  return `${Math.floor(position / 0x1_0000_0000).toString(16)}/${low.toString(16)}`.toUpperCase();
}

/** 1 node, 2 nodes. */
export function countText(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Names in a sentence, four at most: a, b and c. */
export function listText(items) {
  const shown = items.slice(0, 4);
  const last = items.length > 4 ? `${items.length - 4} more` : shown.pop();
  return shown.length === 0 ? (last ?? "") : `${shown.join(", ")} and ${last}`;
}

/** An identifier as words: not_writable -> not writable. */
export function wordsOf(name) {
  return String(name).replaceAll("_", " ");
}

/** A drain in words: what it refuses, who made it, why, and until when. */
export function drainText(drain) {
  if (drain === null) return "none";
  const { all, distrust, by, reason, until } = drain;
  const what = distrust ? "all checks, distrusted" : all ? "all checks" : "reads";
  return `${what}${by === null ? "" : ` by ${by}`} until ${dateText(until)}: ${reason}`;
}
