import type { Observation } from "../../../cluster/observation.ts";
import { isZone } from "../../../cluster/values/zone.ts";
import type { HealthPolicy } from "../../health-policy.ts";

/**
 * Returns the zone of a node: the configured one, else the value of the cluster's tag in the node's last report, of any
 * age, since a server does not move. `null` if it is not known. A false value (`false`, 0, empty) is no zone, and one
 * that is no name of a zone is none either.
 */
export function zoneOf({ zoneTag }: Pick<HealthPolicy, "zoneTag">, { node, report }: Observation): string | null {
  if (node.zone !== null || zoneTag === undefined) return node.zone;
  const tag = report?.tags.get(zoneTag);
  return tag?.isTrue === true && isZone(tag.text) ? tag.text : null;
}
