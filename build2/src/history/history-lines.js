import * as z from "zod";
import { isObject, parseJson } from "../cluster/values/json.js";
import { eventKinds, eventSeverities } from "../events/cluster-event.js";
import { hardReasons, softReasons } from "../health/reason.js";
import { encodeOutcome } from "./outcome-codec.js";
/** The last instant that a date can have, in ms since the epoch (ECMA-262, time values). */
const instantMaxMs = 8.64e15;
const headPattern = /^\{"t":(\d{1,16}),"k":"(\w{1,20})"[,}]/;
/** Reads the head of a line. @returns `null` if the line is damaged */
export function readLineHead(text) {
    const [, at, kind] = headPattern.exec(text) ?? [];
    if (at === undefined || kind === undefined || !text.endsWith("}") || Number(at) > instantMaxMs)
        return null;
    return { atMs: Number(at), kind, text };
}
/** Reads a whole line. @returns `null` if it is damaged */
export function parseLine({ text }) {
    const value = parseJson(text);
    return isObject(value) ? value : null;
}
function lineOf(atMs, kind, fields) {
    return JSON.stringify({ t: Math.round(atMs), k: kind, ...fields });
}
export function eventLine(event) {
    return lineOf(event.at, "event", { event });
}
export function verdictLine({ atWallMs, cluster, node, before, after, failure }) {
    return lineOf(atWallMs, "verdict", { c: cluster, n: node, before, after, failure });
}
/**
 * The first line of each evidence file, and of each process. It gives one instant by the wall clock and by the
 * process's clock; `m` of the lines after it is by the latter.
 * @param run names the process
 * @param nowMs the same instant as `atMs`, in ms of the process's clock
 */
export function startLine(atMs, run, nowMs) {
    return lineOf(atMs, "start", { run, m: nowMs });
}
/** @param kind `held` for a drain that began before the file */
export function outcomeLine(outcome, times, kind) {
    return lineOf(times.atWallMs, kind, { c: outcome.cluster, m: times.atMs, o: encodeOutcome(outcome) });
}
export function accusedLine(cluster, accused, atMs) {
    return lineOf(atMs, "accused", { c: cluster, accused: Object.fromEntries(accused) });
}
/** An instant of a line, in ms since the epoch. A value beyond the bounds of a date could not be shown. */
const instantSchema = z.number().min(0).max(instantMaxMs);
/** Reads `m`, an instant of a process's clock in ms. @returns `null` if it is out of bounds */
export function clockInstantOf(body) {
    const read = instantSchema.safeParse(body["m"]);
    return read.success ? read.data : null;
}
const eventSchema = z.object({
    id: z.string(),
    at: instantSchema,
    kind: z.enum(eventKinds),
    severity: z.enum(eventSeverities),
    cluster: z.string(),
    node: z.string().nullable(),
    message: z.string(),
    cause: z.string().nullable(),
    figures: z.record(z.string(), z.union([z.string(), z.number()])),
});
/** The event of a line, or `null`. */
export function eventOf(body) {
    const read = eventSchema.safeParse(body["event"]);
    return read.success ? read.data : null;
}
const verdict = z.enum(["fit", ...hardReasons, ...softReasons]);
const summarySchema = z.object({ role: z.string(), isReachable: z.boolean(), primary: verdict, replica: verdict });
const changeSchema = z.object({
    t: instantSchema,
    c: z.string(),
    n: z.string(),
    before: summarySchema.nullable(),
    after: summarySchema,
    failure: z.string().nullable(),
});
/** The change of a line, or `null`. */
export function changeOf(body) {
    const read = changeSchema.safeParse(body);
    if (!read.success)
        return null;
    const { t: atWallMs, c: cluster, n: node, before, after, failure } = read.data;
    return { atWallMs, cluster, node, before, after, failure };
}
const accusedSchema = z.record(z.string(), z.array(z.enum(["detached", "stalled"])));
/** The accusations of a line; none if it is damaged. */
export function accusedOfLine(body) {
    const read = accusedSchema.safeParse(body["accused"]);
    return new Map(read.success ? Object.entries(read.data) : []);
}
//# sourceMappingURL=history-lines.js.map