import type { Observation } from "../../cluster/observation.ts";
import { attachmentWarning } from "../evidence/attachment/attachment-warning.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { deadCompanionsText } from "./companion-overview.ts";
import { lostDcsText } from "./dcs-reach.ts";
import { silenceText } from "./node-silence.ts";
import { wedgedWarning } from "./wedged.ts";

/**
 * What counts against a node so far, though no check refuses it: that it has not answered for some seconds, that it is
 * the primary and only looks alive, a replica's attachment, that it alone does not reach the DCS, or that a companion is dead.
 * @returns `null` if nothing does
 */
export function nodeWarning(view: ClusterView, observation: Observation): string | null {
  const ofAttachment = view.lock.holder === observation.node.name ? null : attachmentWarning(view, observation);
  return (
    silenceText(view, observation) ??
    wedgedWarning(view, observation) ??
    ofAttachment ??
    lostDcsText(view, observation) ??
    deadCompanionsText(view, observation)
  );
}
