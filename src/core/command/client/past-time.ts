import { parseInstant } from "../../cluster/values/timestamp.ts";
import { parseDuration } from "../../cluster/values/duration.ts";
import { pastTimeHelp } from "../framework/options.ts";
import { CommandError } from "../framework/command-error.ts";

/**
 * Parses a time in the past as people type it: `2h`, `10min ago`, `now`, an RFC 3339 timestamp, the same without a zone
 * (local time), or a time of day such as `03:12` or `03:12:30`, which means the last such time on a local clock. A
 * local time occurs twice when daylight saving time ends: this takes the later one, unless it is still in the future.
 * @param option the option's name, for the error
 * @returns ms since the epoch
 * @throws CommandError (RC001) if the text is none of these, a time in the future, or a local time that a change to
 *   daylight saving time skipped
 */
export function parsePastTime(option: string, text: string, nowMs: number): number {
  const atMs = parse(text.trim(), nowMs);
  const got = JSON.stringify(text);
  if (atMs === undefined)
    throw new CommandError("RC001", `--${option} must be a time such as ${pastTimeHelp}, got ${got}`);
  if (atMs === "skipped")
    throw new CommandError(
      "RC001",
      `--${option} must be a time that exists on local clocks, got ${got}, which daylight saving time skips`,
    );
  if (atMs < 0) throw new CommandError("RC001", `--${option} must be a time since 1970, got ${got}`);
  if (atMs > nowMs + futureMaxMs)
    throw new CommandError(
      "RC001",
      `--${option} must be a time in the past, got ${got}, which is ${new Date(Math.min(atMs, dateMaxMs)).toISOString()}`,
    );
  return atMs;
}

/** How far the clock of the server may be ahead of the clock of this machine, in ms. */
const futureMaxMs = 60_000;
const dayMs = 86_400_000;
/** The last instant that a Date can hold. */
const dateMaxMs = 8.64e15;

/** @returns `undefined`: not understood; `skipped`: no local clock showed it */
function parse(text: string, nowMs: number): number | "skipped" | undefined {
  if (text === "now") return nowMs;
  const agoMs = parseDuration(text.replace(/\s*ago$/, "").replace(/^(\d+(?:\.\d+)?)\s+/, "$1"));
  if (agoMs !== undefined) return nowMs - agoMs;
  if (/^\d{1,2}:\d{2}(?::\d{2})?$/.test(text)) return lastTimeOfDay(text.split(":").map(Number), nowMs);
  const instant = parseInstant(text);
  if (instant === undefined) return undefined;
  if (instant.hasZone) return instant.atMs;
  const instants = instantsOf(instant.atMs);
  return instants.findLast((atMs) => atMs <= nowMs) ?? instants[0] ?? "skipped";
}

/** The last instant, not after now, at which a local clock showed that time of day. */
function lastTimeOfDay([hours = 0, minutes = 0, seconds = 0]: readonly number[], nowMs: number): number | undefined {
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const timeMs = ((hours * 60 + minutes) * 60 + seconds) * 1_000;
  const todayMs = Math.floor((nowMs - offsetMs(nowMs)) / dayMs) * dayMs;
  // If the time of today is in the future, yesterday's is meant. If clocks skipped that one, that of the day before.
  const instants = [2, 1, 0].flatMap((days) => instantsOf(todayMs - days * dayMs + timeMs));
  return instants.findLast((atMs) => atMs <= nowMs);
}

/**
 * The instants at which local clocks showed a date and time, in order: one, two when daylight saving time ends, none
 * when it begins.
 * @param localMs the date and time as if they were UTC, in ms since the epoch
 */
function instantsOf(localMs: number): readonly number[] {
  const offsets = new Set([offsetMs(localMs - dayMs), offsetMs(localMs + dayMs)]);
  return [...offsets]
    .map((offset) => localMs + offset)
    .filter((atMs) => atMs - offsetMs(atMs) === localMs)
    .toSorted((one, other) => one - other);
}

/** UTC minus local time at an instant, in ms. */
function offsetMs(atMs: number): number {
  return new Date(atMs).getTimezoneOffset() * 60_000;
}
