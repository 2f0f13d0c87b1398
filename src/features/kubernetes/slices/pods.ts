/** The pods of a namespace, as far as slices name them. Pure. */
import { nameOf, listOf, objectOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import type { PodAt } from "../core/service-content.ts";

const nameMax = 253;

/** What is kept of a pod. */
export function slimPod(object: JsonObject): JsonObject {
  const { name, namespace, uid, deletionTimestamp } = objectOf(object["metadata"]);
  const { nodeName, hostNetwork } = objectOf(object["spec"]);
  const { podIP, podIPs, phase } = objectOf(object["status"]);
  return {
    metadata: { name, namespace, uid, deletionTimestamp },
    spec: { nodeName, hostNetwork },
    status: { podIP, podIPs, phase },
  };
}

/**
 * Each pod by its addresses. Pods that have ended are left out, and those with the network of their machine, whose
 * address many may have.
 */
export function podsByIp(objects: Iterable<JsonObject>): ReadonlyMap<string, PodAt> {
  const pods = new Map<string, PodAt>();
  for (const object of objects) {
    const [metadata, spec, status] = ["metadata", "spec", "status"].map((key) => objectOf(object[key]));
    if (metadata === undefined || spec === undefined || status === undefined) continue;
    const [namespace, name, uid] = ["namespace", "name", "uid"].map((key) => nameOf(metadata[key], nameMax));
    if (typeof namespace !== "string" || typeof name !== "string" || typeof uid !== "string") continue;
    if (spec["hostNetwork"] === true || status["phase"] === "Succeeded" || status["phase"] === "Failed") continue;
    const ips = [status["podIP"], ...listOf(status["podIPs"]).map((one) => objectOf(one)["ip"])];
    for (const ip of ips)
      if (typeof ip === "string" && ip !== "")
        pods.set(ip, { namespace, name, uid, nodeName: nameOf(spec["nodeName"], nameMax) });
  }
  return pods;
}

/** Whether slices would name the same pods. */
export function arePodsEqual(one: ReadonlyMap<string, PodAt>, other: ReadonlyMap<string, PodAt>): boolean {
  if (one.size !== other.size) return false;
  for (const [ip, { uid, nodeName }] of one) {
    const its = other.get(ip);
    if (its?.uid !== uid || its.nodeName !== nodeName) return false;
  }
  return true;
}
