import * as z from "zod";
import type { ProbeOutcome } from "../cluster/outcome.ts";
import type { StatedConfig } from "../cluster/documents/dynamic-config.ts";
import type { Drain } from "../cluster/drain.ts";
import {
  clusterFields,
  configFields,
  dcsFields,
  drainFields,
  pageFields,
  reportFields,
} from "../cluster/evidence/evidence-fields.ts";
import { documentNames, type DocumentAnswer } from "../cluster/snapshot.ts";
import { exporterRoles, type ExporterPage } from "../cluster/exporter/exporter-report.ts";
import { failureKinds } from "../cluster/values/failure.ts";
import { isObject, type JsonObject } from "../cluster/values/json.ts";
import { schemaOfFields, partialShapeOf, storedForms, writerOfFields } from "./field-schemas.ts";

const { text } = storedForms;
const writtenReport = writerOfFields(reportFields);
const writtenCluster = writerOfFields(clusterFields);

/**
 * Converts an outcome to plain JSON data, without what no incident file uses: the text of documents, and the fields of
 * a report that have their default. What is plain JSON data is written as it is: reading takes what the rows name.
 */
export function encodeOutcome(outcome: ProbeOutcome): JsonObject {
  switch (outcome.kind) {
    case "status": {
      const { kind, node, sentAtMs, result } = outcome;
      if ("failure" in result) return { kind, node, sentAtMs, failure: result.failure.kind };
      return { kind, node, sentAtMs, hasLock: result.hasLock, report: writtenReport(result.report) };
    }
    case "document": {
      const { name, served, cluster, config, history, isHistoryPartial } = outcome.answer;
      return {
        kind: "document",
        name,
        source: served.source,
        sentAtMs: served.sentAtMs,
        ...(cluster === undefined ? {} : { cluster: writtenCluster(cluster) }),
        ...(config === undefined ? {} : { config }),
        ...(history === undefined ? {} : { history: [...history] }),
        ...(isHistoryPartial === true ? { isHistoryPartial } : {}),
      };
    }
    case "view_failure":
      return { kind: outcome.kind, node: outcome.node, sentAtMs: outcome.sentAtMs, failure: outcome.failure.kind };
    case "exporter": {
      const { kind, node, sentAtMs, result } = outcome;
      const { endpoint } = result;
      if ("failure" in result) return { kind, node, sentAtMs, endpoint, failure: result.failure.kind };
      return {
        kind,
        node,
        sentAtMs,
        endpoint,
        ...("page" in result ? { page: result.page } : { role: result.role }),
      };
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

const failure = z.enum(failureKinds).transform((kind) => ({ kind, detail: "" }));

/** A page of an exporter. */
export const pageSchema: z.ZodType<ExporterPage> = schemaOfFields(pageFields, "history", storedForms);

const { extent: drainExtent, ...drainBesideExtent } = drainFields;

/** Files of version 0.1 have `isAll` in place of `extent`. */
const drainSchema: z.ZodType<Drain> = schemaOfFields<Omit<Drain, "extent">>(drainBesideExtent, "history", storedForms)
  .and(z.object({ extent: storedForms[drainExtent.form].optional(), isAll: z.boolean().optional() }))
  .transform(({ extent, isAll, ...drain }) => ({ ...drain, extent: extent ?? (isAll === true ? "all" : "replica") }));

const clusterSchema = schemaOfFields(clusterFields, "history", storedForms);

/** A setting that could not be read was not written. */
const configSchema: z.ZodType<StatedConfig> = z.object(partialShapeOf(configFields, storedForms));

const instant = z.number();
const named = { node: text, sentAtMs: instant };

/** What is stored of each kind of outcomes. */
const outcomeSchemas = {
  status: z.union([
    z.object({ kind: z.literal("status"), ...named, failure }),
    z.object({
      kind: z.literal("status"),
      ...named,
      hasLock: z.boolean(),
      report: schemaOfFields(reportFields, "history", storedForms),
    }),
  ]),
  document: z.object({
    kind: z.literal("document"),
    name: z.enum(documentNames),
    source: text,
    sentAtMs: instant,
    cluster: clusterSchema
      .transform((stated) => ({ ...stated, members: [], leftOut: [], isPartial: false }))
      .optional(),
    config: configSchema.optional(),
    history: z
      .array(z.tuple([z.number(), z.number()]))
      .transform((points) => new Map(points))
      .optional(),
    isHistoryPartial: z.boolean().optional(),
  }),
  view_failure: z.object({ kind: z.literal("view_failure"), ...named, failure }),
  liveness: z.object({ kind: z.literal("liveness"), ...named, isAlive: z.boolean() }),
  companion: z.object({
    kind: z.literal("companion"),
    ...named,
    companion: text,
    failure: failure.nullable().default(null),
  }),
  exporter: z.union([
    z.object({ kind: z.literal("exporter"), ...named, endpoint: z.literal("up"), failure }),
    z.object({ kind: z.literal("exporter"), ...named, endpoint: z.literal("metrics"), failure }),
    z.object({ kind: z.literal("exporter"), ...named, endpoint: z.literal("up"), role: z.enum(exporterRoles) }),
    z.object({ kind: z.literal("exporter"), ...named, endpoint: z.literal("metrics"), page: pageSchema }),
  ]),
  dcs: z.union([
    z.object({ kind: z.literal("dcs"), sentAtMs: instant, failure }),
    z.object({ kind: z.literal("dcs"), sentAtMs: instant, read: schemaOfFields(dcsFields, "history", storedForms) }),
  ]),
  drain: z.object({ kind: z.literal("drain"), node: text, drain: drainSchema.nullable() }),
} as const satisfies { readonly [K in ProbeOutcome["kind"]]: z.ZodType };
const schemasByKind = new Map<unknown, (typeof outcomeSchemas)[ProbeOutcome["kind"]]>(Object.entries(outcomeSchemas));
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
  const data = isObject(value) ? schemasByKind.get(value["kind"])?.safeParse(value).data : undefined;
  if (data === undefined) return null;
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
