import type { Report } from "../../../cluster/documents/report.ts";
import { memberLimit } from "../../../cluster/documents/cluster-document.ts";
import type { HealthPolicy } from "../../health-policy.ts";
import type { CachedDocument, ClusterState } from "../../../cluster/snapshot.ts";
import { countOf, isObject, listOf, nameOf, parseJson } from "../../../cluster/values/json.ts";
import { withoutUnsafe } from "../../../cluster/values/unsafe-text.ts";

/** A switchover that the cluster will do by itself. */
export interface ScheduledSwitchover {
  /** A timestamp as the node writes it. */
  readonly at: string;
  readonly from: string | null;
  /** `null` if the cluster chooses. */
  readonly to: string | null;
}

/**
 * Reads the scheduled switchover from the `/cluster` document that is served from memory.
 * @param served the document of any age; `null` if none was received
 */
export function scheduledSwitchover(served: CachedDocument | null): ScheduledSwitchover | null {
  if (served === null || served.status !== 200 || !served.body.includes('"scheduled_switchover"')) return null;
  const document = parseJson(served.strict ?? served.body);
  const plan = isObject(document) ? document["scheduled_switchover"] : undefined;
  const at = isObject(plan) ? nameOf(plan["at"]) : null;
  return isObject(plan) && at !== null ? { at, from: nameOf(plan["from"]), to: nameOf(plan["to"]) } : null;
}

/** How many parameters are named that wait for a restart, and how long a name or value may be, in characters. */
const reasonsMax = 8;
const reasonLengthMax = 64;

/** What a node's status document says of itself for people, beside its role and state. */
export interface NodeMarks {
  readonly pending_restart: boolean;
  /** The parameters that wait for it, as `max_connections: 50 -> 60`; Patroni before 4 states none. */
  readonly pending_restart_reason: readonly string[];
  /** When a restart of the node is scheduled, as the node writes it; `null` if none is. */
  readonly scheduled_restart: string | null;
  /** The watchdog device of its machine does not work. */
  readonly watchdog_failed: boolean;
}

const noMarks: NodeMarks = {
  pending_restart: false,
  pending_restart_reason: [],
  scheduled_restart: null,
  watchdog_failed: false,
};

/** Reads the marks of a node from its last report. */
export function nodeMarks(report: Report | null): NodeMarks {
  if (report === null || !/"(?:pending_restart|scheduled_restart|watchdog_failed)"/.test(report.document))
    return noMarks;
  const document = parseJson(report.document);
  if (!isObject(document)) return noMarks;
  const plan = document["scheduled_restart"];
  const isPending = document["pending_restart"] === true;
  return {
    pending_restart: isPending,
    pending_restart_reason: isPending ? restartReasons(document["pending_restart_reason"]) : [],
    scheduled_restart: isObject(plan) ? nameOf(plan["schedule"]) : null,
    watchdog_failed: document["watchdog_failed"] === true,
  };
}

function restartReasons(value: unknown): readonly string[] {
  if (!isObject(value)) return [];
  const entries = Object.entries(value).slice(0, reasonsMax);
  return entries.flatMap(([parameter, change]) => {
    const texts = isObject(change) ? [parameter, change["old_value"], change["new_value"]].map(shortText) : [];
    const [name, before, after] = texts;
    return name && before && after ? [`${name}: ${before} -> ${after}`] : [];
  });
}

/** A short text or number, fit to be shown; `null` for every other value. */
function shortText(value: unknown): string | null {
  const text = typeof value === "number" ? String(value) : nameOf(value, reasonLengthMax);
  return text === null ? null : withoutUnsafe(text);
}

/** How far a member has received and replayed what the leader wrote, in bytes, as `/cluster` states it (Patroni 4.1). */
export interface StatedLag {
  readonly receive_lag: number | null;
  readonly replay_lag: number | null;
}

/**
 * Reads the lags that the `/cluster` document states, by node. They are for people: they count from positions in the
 * DCS, which are up to a loop old, and no rule depends on them.
 */
export function statedLags({
  cluster,
  policy,
  nowMs,
}: {
  readonly cluster: ClusterState;
  readonly policy: Pick<HealthPolicy, "viewMaxAgeMs">;
  readonly nowMs: number;
}): {
  readonly [node: string]: StatedLag;
} {
  const served = cluster.documents.cluster;
  if (served === null || served.status !== 200 || nowMs - served.sentAtMs >= policy.viewMaxAgeMs) return {};
  if (!/"re(?:ceive|play)_lag"/.test(served.body)) return {};
  const document = parseJson(served.strict ?? served.body);
  const rows = isObject(document) ? listOf(document["members"]).slice(0, memberLimit).filter(isObject) : [];
  const byMember = new Map(rows.map((row) => [nameOf(row["name"]), row]));
  return Object.fromEntries(
    cluster.nodes.flatMap(({ node }) => {
      const row = byMember.get(node.member);
      const [receive, replay] = [countOf(row?.["receive_lag"]), countOf(row?.["replay_lag"])];
      return receive === null && replay === null ? [] : [[node.name, { receive_lag: receive, replay_lag: replay }]];
    }),
  );
}
