import * as z from "zod";
import { type FinishIntent, finishSchema } from "../intent/pause-intent.ts";
import type { PauseTarget } from "../machine/plan.ts";

/** What another rolecall is about to pause. */
export interface Announcement {
  readonly run: string;
  readonly cluster: string;
  /** How long something may be paused, in ms from now: clocks differ. */
  readonly deadlineMs: number;
  readonly poolers: readonly AnnouncedPooler[];
  /** How the run is finished; `null`: everything is resumed at once, as versions before did. */
  readonly finish: FinishIntent | null;
}

/** The databases of one pooler. */
export interface AnnouncedPooler {
  readonly pooler: string;
  /**
   * The `application_name` of a console that the other rolecall has open there. Who sees it in SHOW CLIENTS has reached
   * the same process, whatever addresses both use.
   */
  readonly console: string;
  readonly databases: readonly string[];
}

const textError = "a text of 1 to 128 characters";
const text = z.string({ error: textError }).min(1, { error: textError }).max(128, { error: textError });
const databases = boundedList(text, 1, 256);
const announcementSchema = mapping({
  run: z
    .string({ error: textError })
    .regex(/^[\w.:-]{1,128}$/, { error: "1 to 128 of the characters A-Z a-z 0-9 _ . : -" }),
  cluster: text,
  deadline_ms: z
    .int({ error: "a whole number from 1 to 3600000" })
    .min(1, { error: "at least 1" })
    .max(3_600_000, { error: "at most 3600000" }),
  poolers: boundedList(mapping({ pooler: text, console: text, databases }), 1, 64),
  finish: finishSchema.nullable().optional(),
});
const heartbeatSchema = mapping({
  open: boundedList(mapping({ pooler: text, databases }), 0, 64).optional(),
  watched: boundedList(mapping({ pooler: text, databases }), 0, 64).optional(),
  left_ms: z.int({ error: "a whole number from 0" }).min(0, { error: "at least 0" }).optional(),
  may_be_requested: z.boolean({ error: "true or false" }).optional(),
});

function mapping<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  return z.strictObject(shape, { error: `an object with the keys ${Object.keys(shape).join(", ")}` });
}

function boundedList<Element extends z.ZodType>(element: Element, min: number, max: number): z.ZodArray<Element> {
  const error = `a list of ${min} to ${max}`;
  return z.array(element, { error }).min(min, { error }).max(max, { error });
}

/** The body of `POST /pauses`. */
export function writtenAnnouncement({ run, cluster, deadlineMs, poolers, finish }: Announcement): string {
  return JSON.stringify({ run, cluster, deadline_ms: deadlineMs, poolers, ...(finish === null ? {} : { finish }) });
}

/** Reads the body of `POST /pauses`. @returns what is wrong with it, as a text, if it is no announcement */
export function readAnnouncement(body: unknown): Announcement | string {
  const read = announcementSchema.safeParse(body);
  if (!read.success) return problemOf(read.error);
  const { run, cluster, deadline_ms: deadlineMs, poolers, finish = null } = read.data;
  if (new Set(poolers.map(({ pooler }) => pooler)).size < poolers.length) return "poolers must name each pooler once";
  return { run, cluster, deadlineMs, poolers, finish };
}

/** What another rolecall says of its run. */
export interface PauseHeartbeat {
  /** What may still be paused; `null`: as said before. */
  readonly open: readonly PauseTarget[] | null;
  /** What of it was not paused yet after a loss; `null`: as said before. */
  readonly watched: readonly PauseTarget[] | null;
  /** Until everything has to be resumed, in ms; `null`: as said before. */
  readonly leftMs: number | null;
  /** Whether the switchover may be requested from now on. */
  readonly mayBeRequested: boolean;
}

/** The body of `POST /pauses/{run}/heartbeat`. */
export function writtenHeartbeat({ open, watched, leftMs, mayBeRequested }: PauseHeartbeat): string {
  return JSON.stringify({
    ...(open === null ? {} : { open: byPooler(open) }),
    ...(watched === null ? {} : { watched: byPooler(watched) }),
    ...(leftMs === null ? {} : { left_ms: Math.round(leftMs) }),
    ...(mayBeRequested ? { may_be_requested: true } : {}),
  });
}

/** Reads the body of `POST /pauses/{run}/heartbeat`. @returns what is wrong with it, as a text, if it is none */
export function readHeartbeat(body: unknown): PauseHeartbeat | string {
  const read = heartbeatSchema.safeParse(body);
  if (!read.success) return problemOf(read.error);
  const { open, watched, left_ms: leftMs = null, may_be_requested: mayBeRequested = false } = read.data;
  return {
    open: open === undefined ? null : flatTargets(open),
    watched: watched === undefined ? null : flatTargets(watched),
    leftMs,
    mayBeRequested,
  };
}

/** The databases of each pooler. */
export function byPooler(targets: readonly PauseTarget[]): readonly Omit<AnnouncedPooler, "console">[] {
  const found = new Map<string, string[]>();
  for (const { pooler, database } of targets) {
    const known = found.get(pooler);
    if (known === undefined) found.set(pooler, [database]);
    else known.push(database);
  }
  return [...found].map(([pooler, names]) => ({ pooler, databases: names }));
}

/** The opposite of {@link byPooler}. */
export function flatTargets(poolers: readonly Omit<AnnouncedPooler, "console">[]): readonly PauseTarget[] {
  return poolers.flatMap(({ pooler, databases: names }) => names.map((database) => ({ pooler, database })));
}

function problemOf({ issues: [first] }: z.ZodError): string {
  return `${first?.path.join(".") || "it"} must be ${first?.message ?? "readable"}`;
}
