import type { Observation } from "../../cluster/observation.ts";
import { plainCheck } from "../check.ts";
import { judge } from "./judge.ts";
import type { Reason } from "../reason.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";

/** A summary of one node: the log shows its changes, the metrics its values. */
export interface Summary {
  readonly role: string;
  readonly isReachable: boolean;
  /** `fit`, or the reason of the no, for the check without parameters. */
  readonly primary: "fit" | Reason;
  readonly replica: "fit" | Reason;
}

/** A change of one node's summary, and when it was seen. */
export interface LoggedChange {
  readonly atWallMs: number;
  readonly before: Summary | null;
  readonly after: Summary;
  /** Why the last probe failed; `null` if it was answered. */
  readonly failure: string | null;
}

const primaryCheck = plainCheck("primary");
const replicaCheck = plainCheck("replica");

/**
 * A summary, and the instant up to which it stays the same if no outcome is recorded meanwhile, in ms of rolecall's
 * clock.
 */
export interface TimedSummary {
  readonly summary: Summary;
  readonly validUntilMs: number;
}

/** Summarizes a node as it is at the view's instant. */
export function summarize(view: ClusterView, observation: Observation): Summary {
  return timedSummary(view, observation).summary;
}

/** Summarizes a node, and says how long the summary holds. */
export function timedSummary(view: ClusterView, observation: Observation): TimedSummary {
  const primary = judge(view, observation, primaryCheck);
  const replica = judge(view, observation, replicaCheck);
  return {
    summary: {
      role: observation.report?.role ?? "unknown",
      isReachable: observation.failuresInRow === 0 && observation.report !== null,
      primary: primary.fit ? "fit" : primary.reason,
      replica: replica.fit ? "fit" : replica.reason,
    },
    validUntilMs: Math.min(primary.validUntilMs, replica.validUntilMs),
  };
}
