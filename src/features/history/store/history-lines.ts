import * as z from "zod";
import type { ProbeOutcome } from "../../../core/cluster/outcome.ts";
import { isObject, parseJson, type JsonObject } from "../../../core/cluster/values/json.ts";
import { eventSeverities, type ClusterEvent, type EventKind } from "../../../core/events/cluster-event.ts";
import type { Accused } from "../../../core/events/accusation-history.ts";
import type { IncidentSubject } from "../../../core/events/incident/incident-subject.ts";
import type { StoredChange } from "../../../core/events/stored/past.ts";
import { hardReasons, softReasons } from "../../../core/health/reason.ts";
import { encodeOutcome } from "../../../core/outcomes/outcome-codec.ts";

// Each line is a JSON object that begins with `t`, its time in ms since the epoch, and `k`, its kind. Kinds that a
// reader does not know are left out: a newer version may have written them.

/** The kinds of lines in `events` files. */
type EventLineKind = "event" | "verdict";
/** The kinds of lines in `evidence` files. */
type EvidenceLineKind = "start" | "cluster" | "accused" | "held" | "outcome";
/** The kind of lines in `lag` files. */
type LagLineKind = "lag";

/** One line, parsed as far as needed to decide whether it is wanted. */
export interface HistoryLine {
  readonly atMs: number;
  readonly kind: string;
  readonly text: string;
}

/** The last instant that a date can have, in ms since the epoch (ECMA-262, time values). */
const instantMaxMs = 8.64e15;

const headPattern = /^\{"t":(\d{1,16}),"k":"(\w{1,20})"[,}]/;

/** Reads the head of a line. @returns `null` if the line is damaged */
export function readLineHead(text: string): HistoryLine | null {
  const [, at, kind] = headPattern.exec(text) ?? [];
  if (at === undefined || kind === undefined || !text.endsWith("}") || Number(at) > instantMaxMs) return null;
  return { atMs: Number(at), kind, text };
}

const clusterPattern = /^\{"t":\d+,"k":"\w+","c":("(?:[^"\\]|\\.)*")/;

/** The cluster that a line is about, without parsing all of it; `null` if it is about none. */
export function clusterNameOf(text: string): string | null {
  const name = parseJson(clusterPattern.exec(text)?.[1] ?? "");
  return typeof name === "string" ? name : null;
}

/** Reads a whole line. @returns `null` if it is damaged */
export function parseLine({ text }: HistoryLine): JsonObject | null {
  const value = parseJson(text);
  return isObject(value) ? value : null;
}

function lineOf(atMs: number, kind: EventLineKind | EvidenceLineKind | LagLineKind, fields: JsonObject): string {
  return JSON.stringify({ t: Math.round(atMs), k: kind, ...fields });
}

/**
 * @param atMs when the event was written, in ms since the epoch: an event may be known only after it happened, and the
 *   lines of a file are in the order of their times
 */
export function eventLine(event: ClusterEvent, atMs = event.at): string {
  return lineOf(atMs, "event", { event });
}

export function verdictLine({ atWallMs, cluster, node, before, after, failure }: StoredChange): string {
  return lineOf(atWallMs, "verdict", { c: cluster, n: node, before, after, failure });
}

/**
 * The first line of each evidence file, and of each process. It states one instant both by the
 * wall clock and by rolecall's clock of that process. The field `m` of the lines after it is by rolecall's clock.
 * @param run names the process
 * @param nowMs the same instant as `atMs`, in ms of rolecall's clock
 */
export function startLine(atMs: number, run: string, nowMs: number): string {
  return lineOf(atMs, "start", { run, m: nowMs });
}

/** @param kind `held` for a drain that began before the file */
export function outcomeLine(
  outcome: ProbeOutcome,
  times: { atMs: number; atWallMs: number },
  kind: "outcome" | "held",
): string {
  return lineOf(times.atWallMs, kind, { c: outcome.cluster, m: times.atMs, o: encodeOutcome(outcome) });
}

export function accusedLine(cluster: string, accused: Accused, atMs: number): string {
  return lineOf(atMs, "accused", { c: cluster, accused: Object.fromEntries(accused) });
}

/** What an incident file states about a cluster, from `atMs` on. */
export function subjectLine({ name, ...subject }: IncidentSubject, atMs: number): string {
  return lineOf(atMs, "cluster", { c: name, ...subject });
}

/** The highest lag of each node of a cluster within one minute. */
export interface LagMinute {
  readonly cluster: string;
  /** The last sample of the minute, in ms since the epoch. */
  readonly atWallMs: number;
  /** Node -> bytes; `null` where the lag was unknown all the time, or where the node led. */
  readonly lags: ReadonlyMap<string, number | null>;
}

export function lagLine({ cluster, atWallMs, lags }: LagMinute): string {
  return lineOf(atWallMs, "lag", { c: cluster, lags: Object.fromEntries(lags) });
}

const lagsSchema = z.record(z.string(), z.number().min(0).nullable());

/** The lag of each node in a line, or `null`. */
export function lagsOf(body: JsonObject): LagMinute["lags"] | null {
  const read = lagsSchema.safeParse(body["lags"]);
  return read.success ? new Map(Object.entries(read.data)) : null;
}

/** An instant of a line, in ms since the epoch. A value beyond the bounds of a date could not be shown. */
const instantSchema = z.number().min(0).max(instantMaxMs);

/** Reads `m`, an instant of rolecall's clock in ms. @returns `null` if it is out of bounds */
export function clockInstantOf(body: JsonObject): number | null {
  const read = instantSchema.safeParse(body["m"]);
  return read.success ? read.data : null;
}

/** One that this version does not know is of a newer one, or of a feature that this program has not. */
const eventKind = z.custom<EventKind>((value) => typeof value === "string" && /^[a-z_]{1,40}$/.test(value));

const eventSchema: z.ZodType<ClusterEvent> = z.object({
  id: z.string(),
  at: instantSchema,
  kind: eventKind,
  severity: z.enum(eventSeverities),
  cluster: z.string().nullable(),
  node: z.string().nullable(),
  message: z.string(),
  cause: z.string().nullable(),
  figures: z.record(z.string(), z.union([z.string(), z.number()])),
});

/** The event of a line, or `null`. */
export function eventOf(body: JsonObject): ClusterEvent | null {
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
export function changeOf(body: JsonObject): StoredChange | null {
  const read = changeSchema.safeParse(body);
  if (!read.success) return null;
  const { t: atWallMs, c: cluster, n: node, before, after, failure } = read.data;
  return { atWallMs, cluster, node, before, after, failure };
}

const accusedSchema = z.record(z.string(), z.array(z.enum(["detached", "stalled"])));

/** The accusations of a line; none if it is damaged. */
export function accusedOfLine(body: JsonObject): Accused {
  const read = accusedSchema.safeParse(body["accused"]);
  return new Map(read.success ? Object.entries(read.data) : []);
}

const settingSchema = z.union([z.string(), z.number(), z.boolean()]);
const subjectSchema = z.object({
  scope: z.string().nullable(),
  system: z.string().nullable(),
  version: z.string().nullable(),
  nodes: z.array(
    z.object({
      name: z.string(),
      member: z.string(),
      api: z.string().nullable(),
      database: z.object({ host: z.string(), port: z.number() }).nullable(),
      isArchiveFed: z.boolean(),
      zone: z.string().nullable().default(null),
    }),
  ),
  source: z.string().nullable().default(null),
  settings: z.record(z.string(), z.union([settingSchema, z.record(z.string(), settingSchema)])),
});

/** What a line states about a cluster; `null` if it is damaged. */
export function subjectOfLine(cluster: string, body: JsonObject): IncidentSubject | null {
  const read = subjectSchema.safeParse(body);
  return read.success ? { name: cluster, ...read.data } : null;
}
