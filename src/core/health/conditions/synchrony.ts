/** Commits that no synchronous standby confirms. */
import type { Observation } from "../../cluster/observation.ts";
import { isDiverged } from "../../cluster/attachment.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { isHeard } from "../evidence/node/freshness.ts";
import { nodeOfSender } from "../evidence/node/sender-rows.ts";
import { acceptedPrimary } from "../rules/accepted-primary.ts";
import { listText } from "../wording.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import { type Case, type Condition, oneCase, type Told } from "./condition.ts";
import { foundEnds } from "./event-kinds.ts";

/** That commits at the primary wait, as far as the evidence shows it. */
interface Waiting {
  readonly primary: string;
  /** Whether Patroni's strict mode is on: the primary never goes on alone. */
  readonly isStrict: boolean;
  /** The standbys that may confirm commits although they do not answer rolecall: without any it is certain. */
  readonly silent: readonly string[];
  /** When the last report was requested in which a standby could confirm, in ms of rolecall's clock; `null`: not known. */
  readonly sinceMs: number | null;
}

/**
 * Whether commits at the primary wait for a synchronous standby, or may. In strict mode they do while no standby streams
 * from the primary. The primary goes on listing a frozen standby for a minute (`wal_sender_timeout`), and one whose Patroni
 * alone does not answer for as long as it streams: rolecall cannot tell these apart.
 * @returns `null` if nothing shows it: what cannot be read, and what the primary does not list, shows nothing
 */
function waitingWrites(view: ClusterView): Waiting | null {
  const { cluster } = view;
  if (cluster.config === null || !cluster.config.isSynchronous) return null;
  const { isSynchronousStrict: isStrict } = cluster.config;
  const primary = acceptedPrimary(view);
  if (primary === null || primary.report === null || primary.report.role !== "primary") return null;
  const { senders, unreadable } = primary.report;
  // A role that may not read the list gets rows without a state.
  if (unreadable.includes("senders") || senders.some(({ state }) => state === null)) return null;
  const listed = senders.filter(({ state }) => state === "streaming").map((row) => nodeOfSender(cluster, row));
  // A receiver that is no node may confirm: a backup, or a standby that rolecall does not know.
  if (listed.includes(null)) return null;
  const names = new Set(listed.map((node) => node?.name));
  const others = cluster.nodes.filter((node) => node !== primary);
  const heard = others.filter((node) => isHeard(view, node));
  if (heard.some((node) => mayConfirm(node, names, isStrict))) return null;
  const silent = others.filter((node) => names.has(node.node.name) && !heard.includes(node));
  const suspects = isStrict ? silent : silent.filter(isSynchronousStandby);
  if (!isStrict && suspects.length === 0) return null;
  const seen = Math.max(...others.map(({ sentAtMs }) => sentAtMs));
  return {
    primary: primary.node.name,
    isStrict,
    silent: suspects.map(({ node }) => node.name),
    sinceMs: heard.length === 0 && Number.isFinite(seen) ? seen : null,
  };
}

/** Whether a node that answers may confirm commits. In strict mode without a chosen standby any may (Patroni, ha.py). */
function mayConfirm(node: Observation, listed: ReadonlySet<string | undefined>, isStrict: boolean): boolean {
  const { report, attachment } = node;
  if (!isStrict && !isSynchronousStandby(node)) return false;
  if (report?.role === "primary" || attachment.isDetached || isDiverged(attachment)) return false;
  if (listed.has(node.node.name)) return true;
  return listed.size === 0 && (report === null || report.replicationState === null);
}

/** A part that cannot be read may be that of a synchronous standby. */
function isSynchronousStandby({ report }: Observation): boolean {
  if (report === null) return true;
  const { isSyncStandby, isQuorumStandby, unreadable } = report;
  return (
    isSyncStandby || isQuorumStandby || unreadable.includes("isSyncStandby") || unreadable.includes("isQuorumStandby")
  );
}

/** What is said of it: certain only where no standby is left that might confirm. */
function wordsOf({
  primary,
  isStrict,
  silent,
}: Waiting): Pick<Told, "wrong" | "next" | "action"> & { readonly cause: string } {
  const isCertain = silent.length === 0;
  const mode = isStrict ? "synchronous_mode_strict" : "synchronous_mode";
  const why = isCertain
    ? `no standby streams from ${primary}`
    : `${listText(silent)} ${silent.length === 1 ? "does" : "do"} not answer rolecall, and ${primary} lists no other standby that could confirm commits`;
  const alone = `${primary} goes on alone once it no longer lists ${listText(silent)} (wal_sender_timeout, 60 s by default)`;
  return {
    wrong: isCertain ? "writes wait for a synchronous standby" : "writes may wait for a synchronous standby",
    cause: `${mode} is on, and ${why}`,
    next: isStrict ? `commits go on as soon as a standby streams from ${primary}` : alone,
    action: isStrict
      ? `Bring a standby back. Without strict mode ${primary} commits alone, and what it commits then is lost if it fails`
      : `Look at ${listText(silent)}`,
  };
}

/** Whether commits of clients wait, as far as it is certain: they fail by their own timeouts. */
export const writesWait = {
  id: "writes_wait",
  title: "commits wait for a synchronous standby",
  harm: "stuck",
  events: {
    begins: "writes_wait",
    ends: foundEnds.writes_wait,
    severities: ["error", "warning"],
    holds: waitFound,
    endText: (cluster: string) => `commits in ${cluster} no longer wait for a synchronous standby`,
    // Longer than standbys need to follow a new primary.
    holdMs: 3_000,
    isEndKnown: ({ view }: ClusterFacts) => acceptedPrimary(view) !== null,
  },
  status: { condition: "clients failing", tell: tellWait },
  rule: "RC055",
  alerts: ["RolecallWritesWait"],
} as const satisfies Condition;

function tellWait(view: ClusterView): Told | null {
  const waiting = waitingWrites(view);
  if (waiting === null) return null;
  const told = { ...wordsOf(waiting), sinceMs: waiting.sinceMs };
  return waiting.silent.length === 0 ? told : { ...told, condition: "degraded" };
}

function waitFound({ cluster, view }: ClusterFacts): readonly Case[] {
  const waiting = waitingWrites(view);
  if (waiting === null) return [];
  const { wrong, cause } = wordsOf(waiting);
  const isCertain = waiting.silent.length === 0;
  return [
    oneCase({
      severity: isCertain ? "error" : "warning",
      message: `${wrong.replace("writes", `writes to ${cluster}`)}: ${cause}`,
      cause,
      level: isCertain ? "certain" : "possible",
      ...(waiting.sinceMs === null ? {} : { sinceMs: waiting.sinceMs }),
    }),
  ];
}

/** 1 while commits wait for a synchronous standby or may, 0 while they need not, `null` without a primary. */
export function writesWaitFigure(view: ClusterView): number | null {
  if (waitingWrites(view) !== null) return 1;
  return acceptedPrimary(view) === null ? null : 0;
}
