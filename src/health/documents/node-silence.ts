import type { Observation } from "../../cluster/observation.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { isHeard } from "../evidence/node/freshness.ts";
import { countText, spanText } from "./wording.ts";

/** The shortest silence that counts, in ms: very short probe intervals are a matter of the machine, not of the node. */
const leastMs = 2_000;

/** Whether a node whose last report still counts has missed an answer: its clients may notice before it is down. */
export function isUnanswered(view: ClusterView, observation: Observation): boolean {
  const { node, sentAtMs } = observation;
  if (node.api === null || !isHeard(view, observation)) return false;
  return view.nowMs - sentAtMs >= Math.max(leastMs, 2 * view.policy.intervalMs);
}

/** What is known of the silence of a node; `null` if it answers. */
export function silenceText(view: ClusterView, observation: Observation): string | null {
  if (!isUnanswered(view, observation)) return null;
  const { sentAtMs, failure, failuresInRow } = observation;
  const failed = failure === null ? "" : ` (${countText(failuresInRow, "failed probe")}: ${failure.detail})`;
  return `has not answered for ${spanText(view.nowMs - sentAtMs)}${failed}`;
}
