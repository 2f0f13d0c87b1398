import { parseInstant } from "../../cluster/values/timestamp.js";
import { parseDurationOption } from "../framework/arguments.js";
import { pastTimeHelp } from "../framework/options.js";
import { CommandError } from "../framework/command-error.js";
/**
 * Parses a time in the past as people type it: `2h`, `10min ago`, `now`, an RFC 3339 timestamp, the same without a zone
 * (local time), or `03:12` and `03:12:30`: the last time that a local clock showed it.
 * @param option the option's name, for the error
 * @returns ms since the epoch
 * @throws CommandError (RC001) if the text is none of these, or a time in the future
 */
export function parsePastTime(option, text, nowMs) {
    const atMs = parse(text.trim(), nowMs);
    if (atMs === undefined)
        throw new CommandError("RC001", `--${option} must be a time such as ${pastTimeHelp}, got ${JSON.stringify(text)}`);
    if (atMs > nowMs + futureMaxMs)
        throw new CommandError("RC001", `--${option} must be a time in the past, got ${JSON.stringify(text)}, which is ${new Date(atMs).toISOString()}`);
    return atMs;
}
/** How far the clock of the server may be ahead of ours, in ms. */
const futureMaxMs = 60_000;
function parse(text, nowMs) {
    if (text === "now")
        return nowMs;
    const agoMs = parseDurationOption(text.replace(/\s*ago$/, "").replace(/^(\d+(?:\.\d+)?)\s+/, "$1"));
    if (agoMs !== undefined)
        return nowMs - agoMs;
    if (/^\d{1,2}:\d{2}(?::\d{2})?$/.test(text))
        return lastTimeOfDay(text.split(":").map(Number), nowMs);
    const instant = parseInstant(text);
    if (instant === undefined)
        return undefined;
    // Without a zone Date.parse reads a date alone as UTC, and a date with a time as local.
    const local = Date.parse(text.length === 10 ? `${text}T00:00` : text.replace(" ", "T"));
    return instant.hasZone ? instant.atMs : Number.isNaN(local) ? undefined : local;
}
/** Today at that time, or yesterday if it is still to come. */
function lastTimeOfDay([hours = 0, minutes = 0, seconds = 0], nowMs) {
    if (hours > 23 || minutes > 59 || seconds > 59)
        return undefined;
    const at = new Date(nowMs);
    at.setHours(hours, minutes, seconds, 0);
    if (at.getTime() > nowMs)
        at.setDate(at.getDate() - 1);
    return at.getTime();
}
//# sourceMappingURL=past-time.js.map