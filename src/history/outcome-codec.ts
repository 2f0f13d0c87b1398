import * as z from "zod";
import type { ProbeOutcome } from "../cluster/outcome.ts";
import { reportDefaults, unreadableFields, type Report } from "../cluster/documents/report.ts";
import { type Drain, drainExtents } from "../cluster/drain.ts";
import type { DocumentAnswer } from "../cluster/snapshot.ts";
import { exporterRoles, noDiskFigures, type ExporterPage } from "../cluster/exporter/exporter-report.ts";
import { failureKinds } from "../cluster/values/failure.ts";
import { isNoLoadBalance, parseTags, writtenTags } from "../cluster/values/tags.ts";
import type { JsonObject } from "../cluster/values/json.ts";

/** Fields of a report that no incident file uses, or that follow from others. */
const derivedFields: ReadonlySet<string> = new Set(["document", "asWritten", "isNoLoadBalance", "startedAt"]);

/** What a stored report omits: the defaults of `reportSchema`. */
const reportOmitted: JsonObject = {
  ...reportDefaults,
  timeline: null,
  location: null,
  received: null,
  replayed: null,
  replicationState: null,
  system: null,
  scope: null,
  name: null,
  version: null,
};

/**
 * Converts an outcome to plain JSON data, without what no incident file uses: the text of documents, and the fields of
 * a report that have their default.
 */
export function encodeOutcome(outcome: ProbeOutcome): JsonObject {
  switch (outcome.kind) {
    case "status": {
      const { kind, node, sentAtMs, result } = outcome;
      if ("failure" in result) return { kind, node, sentAtMs, failure: result.failure.kind };
      return { kind, node, sentAtMs, hasLock: result.hasLock, report: encodeReport(result.report) };
    }
    case "document": {
      const { name, served, cluster, config, history } = outcome.answer;
      return {
        kind: "document",
        name,
        source: served.source,
        sentAtMs: served.sentAtMs,
        ...(cluster === undefined ? {} : { cluster: { ...cluster, members: undefined, leftOut: undefined } }),
        ...(config === undefined ? {} : { config }),
        ...(history === undefined ? {} : { history: [...history] }),
      };
    }
    case "view_failure":
      return { kind: outcome.kind, node: outcome.node, sentAtMs: outcome.sentAtMs, failure: outcome.failure.kind };
    case "exporter": {
      const { kind, node, sentAtMs, result } = outcome;
      const { endpoint } = result;
      if ("failure" in result) return { kind, node, sentAtMs, endpoint, failure: result.failure.kind };
      return { kind, node, sentAtMs, endpoint, ...("page" in result ? { page: result.page } : { role: result.role }) };
    }
    case "companion": {
      const { kind, node, companion, sentAtMs, failure: reason } = outcome;
      return { kind, node, companion, sentAtMs, ...(reason === null ? {} : { failure: reason.kind }) };
    }
    case "dcs": {
      const { kind, sentAtMs, result } = outcome;
      return "failure" in result
        ? { kind, sentAtMs, failure: result.failure.kind }
        : { kind, sentAtMs, read: result.read };
    }
    case "liveness":
    case "drain": {
      const { cluster: _, ...rest } = outcome;
      return rest;
    }
  }
}

function encodeReport({ tags, senders, ...report }: Report): JsonObject {
  return {
    ...Object.fromEntries(
      Object.entries(report).filter(([key, value]) => !derivedFields.has(key) && value !== reportOmitted[key]),
    ),
    ...(tags.size === 0 ? {} : { tags: writtenTags(tags) }),
    ...(senders.length === 0 ? {} : { senders }),
  };
}

/** Names, addresses and reasons: longer than any of them. */
const text = z.string().max(1_024);
const textOrNull = text.nullable().default(null);
const numberOrNull = z.number().nullable().default(null);
const failure = z.enum(failureKinds).transform((kind) => ({ kind, detail: "" }));
const flag = z.boolean().default(false);

const reportSchema = z
  .object({
    role: text,
    state: text,
    timeline: numberOrNull,
    location: numberOrNull,
    received: numberOrNull,
    replayed: numberOrNull,
    replicationState: textOrNull,
    senders: z.array(z.object({ name: text, address: textOrNull, state: textOrNull })).default([]),
    isSyncStandby: flag,
    isQuorumStandby: flag,
    isFailsafe: flag,
    isPaused: flag,
    dcsSeen: numberOrNull,
    tags: z.record(text, z.unknown()).default({}),
    system: textOrNull,
    scope: textOrNull,
    name: textOrNull,
    version: textOrNull,
    unreadable: z.array(z.enum(unreadableFields)).default([]),
  })
  .transform(({ tags: written, ...report }): Report => {
    const tags = parseTags(written);
    return {
      ...report,
      tags,
      isNoLoadBalance: isNoLoadBalance(tags),
      startedAt: null,
      document: "{}",
      asWritten: null,
    };
  });

/** A page of an exporter. */
export const pageSchema: z.ZodType<ExporterPage> = z.object({
  family: z.enum(["pg_exporter", "postgres_exporter"]),
  isPooler: z.boolean(),
  isUp: z.boolean().nullable(),
  isInRecovery: z.boolean().nullable(),
  databaseTimeS: numberOrNull,
  serverVersion: numberOrNull,
  system: textOrNull,
  timeline: numberOrNull,
  written: numberOrNull,
  received: numberOrNull,
  replayed: numberOrNull,
  lagSeconds: numberOrNull,
  isReplayPaused: z.boolean().nullable(),
  senders: z.array(z.object({ name: text, address: textOrNull, isStreaming: z.boolean(), replayed: numberOrNull })),
  streaming: numberOrNull,
  receiver: z.object({ host: text, port: numberOrNull, isStreaming: z.boolean() }).nullable(),
  disk: z
    .object({
      inserted: numberOrNull,
      flushed: numberOrNull,
      walWaits: numberOrNull,
      fileWaits: numberOrNull,
      otherWaits: numberOrNull,
      databaseBytes: numberOrNull,
    })
    .default(noDiskFigures),
  samples: z.number(),
});

/** Files of version 0.1 have `isAll` in place of `extent`. */
const drainSchema: z.ZodType<Drain> = z
  .object({
    reason: text,
    by: text.nullable(),
    extent: z.enum(drainExtents).optional(),
    isAll: z.boolean().optional(),
    untilMs: z.number(),
    since: text,
    until: text,
  })
  .transform(({ extent, isAll, ...drain }) => ({ ...drain, extent: extent ?? (isAll === true ? "all" : "replica") }));

const named = { node: text, sentAtMs: z.number() };

const outcomeSchema = z.union([
  z.object({ kind: z.literal("status"), ...named, failure }),
  z.object({ kind: z.literal("status"), ...named, hasLock: z.boolean(), report: reportSchema }),
  z.object({
    kind: z.literal("document"),
    name: z.enum(["cluster", "config", "history", "failsafe"]),
    source: text,
    sentAtMs: z.number(),
    cluster: z
      .object({
        scope: textOrNull,
        leader: textOrNull,
        leaderApi: textOrNull,
        leaderTimeline: numberOrNull,
        isLeaderUnreadable: flag,
      })
      .transform((cluster) => ({ ...cluster, members: [], leftOut: [], isPartial: false }))
      .optional(),
    config: z
      .object({
        ttlMs: z.number(),
        loopWaitMs: z.number(),
        retryTimeoutMs: z.number(),
        lagMaxOnFailover: z.number(),
        isStandbyCluster: z.boolean(),
      })
      .optional(),
    history: z
      .array(z.tuple([z.number(), z.number()]))
      .transform((points) => new Map(points))
      .optional(),
  }),
  z.object({ kind: z.literal("view_failure"), ...named, failure }),
  z.object({ kind: z.literal("liveness"), ...named, isAlive: z.boolean() }),
  z.object({ kind: z.literal("companion"), ...named, companion: text, failure: failure.nullable().default(null) }),
  z.object({ kind: z.literal("exporter"), ...named, endpoint: z.literal("up"), failure }),
  z.object({ kind: z.literal("exporter"), ...named, endpoint: z.literal("metrics"), failure }),
  z.object({ kind: z.literal("exporter"), ...named, endpoint: z.literal("up"), role: z.enum(exporterRoles) }),
  z.object({ kind: z.literal("exporter"), ...named, endpoint: z.literal("metrics"), page: pageSchema }),
  z.object({ kind: z.literal("dcs"), sentAtMs: z.number(), failure }),
  z.object({
    kind: z.literal("dcs"),
    sentAtMs: z.number(),
    read: z.object({ leader: textOrNull, source: text, revision: z.number(), hasScope: z.boolean() }),
  }),
  z.object({ kind: z.literal("drain"), node: text, drain: drainSchema.nullable() }),
]);

/**
 * Converts stored data to the outcome of a cluster.
 * @param shiftMs what to add to its instants, in ms: an earlier process had another clock
 * @param sentOffsetMs wall-clock time minus the clock of this process, in ms
 * @returns `null` if the data is damaged
 */
export function decodeOutcome(
  cluster: string,
  value: unknown,
  { shiftMs, sentOffsetMs }: { readonly shiftMs: number; readonly sentOffsetMs: number },
): ProbeOutcome | null {
  const read = outcomeSchema.safeParse(value);
  if (!read.success) return null;
  const { data } = read;
  if (data.kind === "drain") {
    const { kind, node, drain } = data;
    return { kind, cluster, node, drain: drain === null ? null : { ...drain, untilMs: drain.untilMs + shiftMs } };
  }
  const sentAtMs = data.sentAtMs + shiftMs;
  const sentAtWallMs = sentAtMs + sentOffsetMs;
  if (data.kind === "document") {
    const { source, name, kind, sentAtMs: _, ...documents } = data;
    const answer: DocumentAnswer = { name, served: { status: 200, body: "", source, sentAtMs }, ...documents };
    return { kind, cluster, answer };
  }
  if (data.kind === "status") {
    const { kind, node } = data;
    const result = "failure" in data ? { failure: data.failure } : { report: data.report, hasLock: data.hasLock };
    return { kind, cluster, node, sentAtMs, sentAtWallMs, result };
  }
  if (data.kind === "dcs") {
    const result = "failure" in data ? { failure: data.failure } : { read: data.read };
    return { kind: data.kind, cluster, sentAtMs, result };
  }
  if (data.kind === "exporter") {
    const { kind, node, sentAtMs: _, ...result } = data;
    return { kind, cluster, node, sentAtMs, sentAtWallMs, result };
  }
  return { ...data, cluster, sentAtMs };
}
