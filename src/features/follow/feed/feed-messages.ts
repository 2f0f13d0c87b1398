import * as z from "zod";
import { drainExtents, drainMsMax, drainTextMax } from "../../../core/cluster/drain.ts";
import { isObject } from "../../../core/cluster/values/json.ts";
import { type ClockReading, instantOf } from "../../../core/state/clock.ts";
import { boundedList, sentInstant, shortened } from "./state-values.ts";

/** The path of a feed on an admin listener, and where its follower sends changes of its clusters, tokens and drains. */
export const feedPath = "feed";
export const feedClustersPath = "feed/clusters";
export const echoPath = "feed/echo";
export const feedDrainPath = "feed/drain";

const clock = z.object({
  /** When the message was sent, in ms of the owner's clock. */
  at: sentInstant,
  /** What had been added to that clock by then, in ms. */
  added: sentInstant,
});

/** When a message is sent, as it says it. */
export function sendingTime(reading: ClockReading): z.output<typeof clock> {
  return { at: instantOf(reading), added: reading.addedMs };
}

/** The longest name of a cluster, of a stream or a group, and of a version, in characters. */
const nameMax = { cluster: 128, stream: 64, version: 64 } as const;
/** The longest text for people, in characters. */
const textMax = 200;
/** The most refusals of a stream that are sent, and read. Clusters that are not configured here are counted, not listed. */
export const refusalsMax = 200;

const wantedSchema = z.object({
  name: z.string().max(nameMax.cluster),
  /** Only the keys that are known here are looked at. */
  shape: z.custom<Readonly<Record<string, unknown>>>(isObject),
});

/** A cluster that a follower asks for, and what its own configuration asks of it. */
export type WantedCluster = z.output<typeof wantedSchema>;

/** The most clusters of a stream. */
export const feedClustersMax = 10_000;

/** What a follower asks for. */
export const feedRequestSchema = z
  .object({
    protocol: z.number(),
    version: z.string().max(64),
    /** The name of the follower, for people. */
    name: z.string().max(256),
    /** Comes back with the first message: see {@link SendingBound}. */
    token: z.number(),
    clusters: boundedList(wantedSchema, feedClustersMax),
    /** Whether it may want none: it owns clusters that are probed there, too, and nothing but drains passes. */
    isOwner: z.boolean().catch(false),
    /** The last message that it has got. */
    resume: z.object({ group: z.string().max(nameMax.stream), seq: z.number() }).nullable(),
    /** Whether it understands `moved`: otherwise its stream ends where others go on with other clusters. */
    canMove: z.boolean().catch(false),
  })
  .refine(({ clusters, isOwner }) => isOwner || clusters.length > 0);

export type FeedRequest = z.output<typeof feedRequestSchema>;

/** Other clusters on an open stream. */
export const selectionSchema = z.object({
  stream: z.string().max(64),
  add: boundedList(wantedSchema, feedClustersMax),
  drop: boundedList(z.string().max(nameMax.cluster), feedClustersMax),
});

export type Selection = z.output<typeof selectionSchema>;

/** A token that comes back. */
export const echoRequestSchema = z.object({ stream: z.string().max(64), token: z.number() });

/** What an operator of a follower asks of the owner of a cluster: a drain of a node, or with `null` its end. */
export const drainOrderSchema = z.object({
  stream: z.string().max(64),
  cluster: z.string().max(128),
  node: z.string().max(256),
  by: z.string().max(drainTextMax).nullable(),
  drain: z
    .object({
      forMs: z.number().min(1).max(drainMsMax),
      reason: z.string().min(1).max(drainTextMax),
      extent: z.enum(drainExtents),
    })
    .nullable(),
});

export type DrainOrder = z.output<typeof drainOrderSchema>;

/** What came of it. */
export const orderedDrainSchema = z.object({
  isDurable: z.boolean(),
  /** The drain as the owner has recorded it; `null`: none. */
  drain: z
    .object({
      leftMs: z.number().min(0).max(drainMsMax),
      reason: z.string().max(drainTextMax),
      by: z.string().max(drainTextMax).nullable(),
      extent: z.enum(drainExtents),
      since: z.string().max(64),
      until: z.string().max(64),
    })
    .nullable(),
});

export type OrderedDrain = z.output<typeof orderedDrainSchema>;

/** Why an owner does not feed a cluster. */
export const refusalReasons = ["unknown_cluster", "not_allowed", "not_probed", "differs", "protocol"] as const;

const refusalSchema = z.object({
  cluster: z.string().max(nameMax.cluster),
  reason: z.enum(refusalReasons).catch("unknown_cluster"),
  message: shortened(textMax * 2),
});
const refusalsSchema = boundedList(refusalSchema, feedClustersMax).transform((refused) =>
  refused.slice(0, refusalsMax),
);

/** Why a cluster is not fed. */
export type FeedRefusal = z.output<typeof refusalSchema>;

const helloSchema = z.object({
  hello: clock.extend({
    version: z.string().max(nameMax.version),
    instance: z.string().max(nameMax.stream),
    stream: z.string().max(nameMax.stream),
    /** Messages are numbered within it. */
    group: z.string().max(nameMax.stream),
    /** Whether the messages that follow continue those before. */
    resumed: z.boolean(),
    token: z.number(),
    refused: refusalsSchema,
    /** Whether the clusters of the stream may be changed. */
    canMove: z.boolean().catch(false),
  }),
});
/** The stream has other clusters from now on. Those that are new to it follow in full. */
const movedSchema = z.object({ moved: z.object({ group: z.string().max(nameMax.stream), refused: refusalsSchema }) });
/** A cluster in full: its state, in this form. */
const fullSchema = z.object({
  full: clock.extend({ cluster: z.string().max(nameMax.cluster), form: z.number(), state: z.unknown() }),
});
/** All clusters were sent in full. */
const readySchema = z.object({ ready: z.literal(true) });
const changesSchema = z.object({
  changes: z.custom<readonly unknown[]>(Array.isArray),
  seq: z.number(),
  ...clock.shape,
});
const echoSchema = z.object({ echo: clock.extend({ token: z.number() }) });
const byeSchema = z.object({ bye: shortened(textMax) });

/** The key that a message of each kind has, and its form. */
const messageSchemas = [
  ["changes", changesSchema],
  ["echo", echoSchema],
  ["full", fullSchema],
  ["hello", helloSchema],
  ["moved", movedSchema],
  ["ready", readySchema],
  ["bye", byeSchema],
] as const;

/** One message of a feed: a line of JSON. */
export type FeedMessage = z.output<(typeof messageSchemas)[number][1]>;

/** @returns `null` if the value is damaged, or of a kind that this version does not know */
export function readFeedMessage(value: unknown): FeedMessage | null {
  if (!isObject(value)) return null;
  const schema = messageSchemas.find(([key]) => Object.hasOwn(value, key))?.[1];
  return schema?.safeParse(value).data ?? null;
}
