import type { Observation } from "../../cluster/observation.ts";
import { plainCheck } from "../check.ts";
import { judge } from "../judge/judge.ts";
import type { Reason } from "../reason.ts";
import type { ClusterView } from "../evidence/cluster-view.ts";

/** A node in a few words: what the log tells changes of, and the metrics show. */
export interface Summary {
  readonly role: string;
  readonly isReachable: boolean;
  /** `fit`, or why not, for the plain check. */
  readonly primary: "fit" | Reason;
  readonly replica: "fit" | Reason;
}

/** A change of one node's summary, and when it was seen. */
export interface LoggedChange {
  readonly atWallMs: number;
  readonly before: Summary | null;
  readonly after: Summary;
  /** What the last probe met, where it met no answer. */
  readonly failure: string | null;
}

const primaryCheck = plainCheck("primary");
const replicaCheck = plainCheck("replica");

/** Sums a node up as it is seen at an instant. */
export function summarize(view: ClusterView, observation: Observation): Summary {
  return {
    role: observation.report?.role ?? "unknown",
    isReachable: observation.failuresInRow === 0 && observation.report !== null,
    primary: wordFor(view, observation, primaryCheck),
    replica: wordFor(view, observation, replicaCheck),
  };
}

function wordFor(view: ClusterView, observation: Observation, check: typeof primaryCheck): "fit" | Reason {
  const verdict = judge(view, observation, check);
  return verdict.fit ? "fit" : verdict.reason;
}
