/**
 * The fields of all evidence, one row each: its form, and since which version the history on disk, the feed to followers
 * and incident files carry it. What these write and read follows from the rows, so a new field is one row here.
 */
import type { DcsRead } from "../dcs.ts";
import type { ClusterDocument } from "../documents/cluster-document.ts";
import type { DynamicConfig } from "../documents/dynamic-config.ts";
import type { Report, Sender } from "../documents/report.ts";
import type { Drain } from "../drain.ts";
import {
  noDiskFigures,
  type DiskFigures,
  type ExporterPage,
  type ExporterReceiver,
  type ExporterSender,
} from "../exporter/exporter-report.ts";
import { isNoLoadBalance } from "../values/tags.ts";
import { absentOf, type Absent, type FieldsOf } from "./fields.ts";

/** A standby in the sender list of a node's status document. */
export const senderFields: FieldsOf<Sender> = {
  name: { form: "text", history: 1, feed: 1, incident: ["name", 1] },
  address: { form: "textOrNull", history: 1, feed: 1, incident: ["address", 1], absent: null },
  state: { form: "textOrNull", history: 1, feed: 1, incident: ["state", 1], absent: null },
};

/** A report of a node. The feed has it in states; in outcomes it is the text that the node has answered. */
const reportRows = {
  role: { form: "text", history: 1, feed: 1, incident: ["role", 1] },
  state: { form: "text", history: 1, feed: 1, incident: ["state", 1] },
  timeline: { form: "countOrNull", history: 1, feed: 1, incident: ["timeline", 1], absent: null },
  location: { form: "position", history: 1, feed: 1, incident: ["location", 1], absent: null },
  received: { form: "position", history: 1, feed: 1, incident: ["received", 1], absent: null },
  replayed: { form: "position", history: 1, feed: 1, incident: ["replayed", 1], absent: null },
  replicationState: { form: "textOrNull", history: 1, feed: 1, incident: ["replication_state", 1], absent: null },
  senders: { form: "senders", history: 1, feed: 1, incident: ["senders", 1], absent: [] },
  isSyncStandby: { form: "flag", history: 1, feed: 1, incident: ["sync_standby", 1], absent: false },
  isQuorumStandby: { form: "flag", history: 1, feed: 1, incident: ["quorum_standby", 1], absent: false },
  isFailsafe: { form: "flag", history: 1, feed: 1, incident: ["failsafe", 1], absent: false },
  isPaused: { form: "flag", history: 1, feed: 1, incident: ["pause", 1], absent: false },
  dcsSeen: { form: "timeOrNull", history: 1, feed: 1, incident: ["dcs_last_seen", 1], absent: null },
  tags: { form: "tags", history: 1, feed: 1, incident: ["tags", 1], absent: new Map() },
  system: { form: "textOrNull", history: 1, feed: 1, incident: ["system", 1], absent: null },
  scope: { form: "textOrNull", history: 1, feed: 1, incident: ["scope", 1], absent: null },
  name: { form: "textOrNull", history: 1, feed: 1, incident: ["name", 1], absent: null },
  version: { form: "textOrNull", history: 1, feed: 1, incident: ["version", 1], absent: null },
  unreadable: { form: "unreadable", history: 1, feed: 2, incident: ["unreadable", 1], absent: [] },
  startedAt: { form: "textOrNull", history: 2, feed: 1, incident: ["postmaster_start_time", 2], absent: null },
  // Tags that cannot be read at all may say so.
  isNoLoadBalance: {
    form: "flag",
    history: 2,
    feed: 1,
    incident: ["no_load_balance", 2],
    follows: ({ tags }) => isNoLoadBalance(tags),
  },
  // Texts would take most of a file, and no verdict depends on them.
  document: { form: "document", history: false, feed: 1, incident: false, absent: "{}" },
  asWritten: { form: "documentOrNull", history: false, feed: 2, incident: false, absent: null },
} as const satisfies FieldsOf<Report>;

export const reportFields: FieldsOf<Report> = reportRows;

/** What a report states where it says nothing. */
export const reportDefaults: Absent<typeof reportRows> = absentOf(reportRows);

/** A standby in a page of its upstream's exporter. */
export const exporterSenderFields: FieldsOf<ExporterSender> = {
  name: { form: "text", history: 1, feed: 1, incident: ["name", 1] },
  address: { form: "textOrNull", history: 1, feed: 1, incident: ["address", 1], absent: null },
  isStreaming: { form: "flag", history: 1, feed: 1, incident: ["streaming", 1] },
  replayed: { form: "position", history: 1, feed: 1, incident: ["replayed", 1], absent: null },
};

/** The server that a standby receives WAL from. */
export const receiverFields: FieldsOf<ExporterReceiver> = {
  host: { form: "text", history: 1, feed: 1, incident: ["host", 1] },
  port: { form: "countOrNull", history: 1, feed: 1, incident: ["port", 1], absent: null },
  isStreaming: { form: "flag", history: 1, feed: 1, incident: ["streaming", 1] },
};

/** What a page says of the disk. In incident files these keys are the page's own. */
export const diskFields: FieldsOf<DiskFigures> = {
  inserted: { form: "position", history: 1, feed: 1, incident: ["inserted", 1], absent: null },
  flushed: { form: "position", history: 1, feed: 1, incident: ["flushed", 1], absent: null },
  walWaits: { form: "figureOrNull", history: 1, feed: 1, incident: ["wal_waits", 1], absent: null },
  fileWaits: { form: "figureOrNull", history: 1, feed: 1, incident: ["file_waits", 1], absent: null },
  otherWaits: { form: "figureOrNull", history: 1, feed: 1, incident: ["other_waits", 1], absent: null },
  databaseBytes: { form: "countOrNull", history: 1, feed: 1, incident: ["database_bytes", 1], absent: null },
};

/** A page of an exporter. Fields that are shown and never judged are in no incident file. */
const pageRows = {
  family: { form: "family", history: 1, feed: 1, incident: ["family", 1] },
  isPooler: { form: "flag", history: 1, feed: 1, incident: ["pooler", 1] },
  isUp: { form: "flagOrNull", history: 1, feed: 1, incident: ["database_up", 1] },
  isInRecovery: { form: "flagOrNull", history: 1, feed: 1, incident: ["in_recovery", 1] },
  databaseTimeS: { form: "figureOrNull", history: 1, feed: 1, incident: ["time", 1], absent: null },
  system: { form: "textOrNull", history: 1, feed: 1, incident: ["system", 1], absent: null },
  written: { form: "position", history: 1, feed: 1, incident: ["written", 1], absent: null },
  received: { form: "position", history: 1, feed: 1, incident: ["received", 1], absent: null },
  replayed: { form: "position", history: 1, feed: 1, incident: ["replayed", 1], absent: null },
  senders: { form: "exporterSenders", history: 1, feed: 1, incident: ["senders", 1] },
  streaming: {
    form: "countOrNull",
    history: 1,
    feed: 1,
    incident: ["streaming", 1],
    absent: null,
    follows: ({ senders }) => senders.filter(({ isStreaming }) => isStreaming).length,
  },
  receiver: { form: "receiver", history: 1, feed: 1, incident: ["receiver", 1] },
  disk: { form: "disk", history: 1, feed: 1, incident: false, absent: noDiskFigures },
  serverVersion: { form: "countOrNull", history: 1, feed: 1, incident: false, absent: null },
  timeline: { form: "countOrNull", history: 1, feed: 1, incident: false, absent: null },
  lagSeconds: { form: "figureOrNull", history: 1, feed: 1, incident: false, absent: null },
  isReplayPaused: { form: "flagOrNull", history: 1, feed: 1, incident: false },
  samples: { form: "count", history: 1, feed: 1, incident: false },
} as const satisfies FieldsOf<ExporterPage>;

export const pageFields: FieldsOf<ExporterPage> = pageRows;

/** What a page states where it says nothing. */
export const pageDefaults: Absent<typeof pageRows> = absentOf(pageRows);

/** A cluster document without its members. */
export type StatedCluster = Omit<ClusterDocument, "members" | "leftOut" | "isPartial">;

/**
 * What a cluster document says beside its members: those of an incident are in the head of its file, which has no
 * addresses, so that the leader is named there. The feed has documents as they were answered.
 */
export const clusterFields: FieldsOf<StatedCluster> = {
  leader: { form: "textOrNull", history: 1, feed: 1, incident: ["leader", 1], absent: null },
  leaderTimeline: { form: "countOrNull", history: 1, feed: 1, incident: ["timeline", 1], absent: null },
  scope: { form: "textOrNull", history: 1, feed: 1, incident: ["scope", 1], absent: null },
  leaderApi: { form: "textOrNull", history: 1, feed: 1, incident: false, absent: null },
  isLeaderUnreadable: { form: "flag", history: 1, feed: 1, incident: false, absent: false },
};

const configRows = {
  ttlMs: { form: "seconds", history: 1, feed: 1, incident: ["ttl", 1] },
  loopWaitMs: { form: "seconds", history: 1, feed: 1, incident: ["loop_wait", 1] },
  retryTimeoutMs: { form: "seconds", history: 1, feed: 1, incident: ["retry_timeout", 1] },
  lagMaxOnFailover: { form: "count", history: 1, feed: 1, incident: ["maximum_lag_on_failover", 1] },
  isStandbyCluster: { form: "flag", history: 1, feed: 1, incident: ["standby_cluster", 1], absent: false },
  isSynchronous: { form: "flag", history: 2, feed: 2, incident: ["synchronous_mode", 2], absent: false },
  isSynchronousStrict: { form: "flag", history: 2, feed: 2, incident: ["synchronous_mode_strict", 2], absent: false },
} as const satisfies FieldsOf<DynamicConfig>;

/**
 * The dynamic configuration. A setting that cannot be read is not written, in incident files it is `null`: the history
 * has nothing in place of a setting that is not written.
 */
export const configFields: FieldsOf<DynamicConfig> = configRows;

/** What a dynamic configuration states where it says nothing. */
export const configDefaults: Absent<typeof configRows> = absentOf(configRows);

/** A read of the leader key in the DCS. */
export const dcsFields: FieldsOf<DcsRead> = {
  leader: { form: "textOrNull", history: 1, feed: 1, incident: ["leader", 1], absent: null },
  revision: { form: "count", history: 1, feed: 1, incident: ["revision", 1] },
  source: { form: "text", history: 1, feed: 1, incident: ["source", 1] },
  hasScope: { form: "opposite", history: 1, feed: 1, incident: ["empty", 1] },
};

/** A drain. Its begin and end in wall time follow, in an incident file, from the step; who has stated it ends with the process. */
export const drainFields: FieldsOf<Drain> = {
  untilMs: { form: "end", history: 1, feed: 1, incident: ["for", 1] },
  reason: { form: "text", history: 1, feed: 1, incident: ["reason", 1] },
  by: { form: "textOrNull", history: 1, feed: 1, incident: ["by", 1] },
  extent: { form: "extent", history: 1, feed: 1, incident: false },
  since: { form: "text", history: 1, feed: 1, incident: false },
  until: { form: "text", history: 1, feed: 1, incident: false },
  isOfUpstream: { form: "mark", history: false, feed: false, incident: false },
};
