/** The APIs of the pods that a watch has found. Pure. */
import { listOf, nameOf, objectOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import type { PodSeed } from "../config/pod-seed.ts";

/** The most pods of a cluster that are asked for its members. */
const podsMax = 64;
const ipMax = 64;

/** What is kept of a pod. */
export function slimFoundPod(object: JsonObject): JsonObject {
  const { name, deletionTimestamp } = objectOf(object["metadata"]);
  const { podIP, phase, conditions } = objectOf(object["status"]);
  const isReady = listOf(conditions).some(
    (one) => objectOf(one)["type"] === "Ready" && objectOf(one)["status"] === "True",
  );
  return { metadata: { name, deletionTimestamp }, status: { podIP, phase, isReady } };
}

/**
 * The APIs of pods, those of ready pods first, then by name. Left out are those without an address, and those that have
 * ended; one that is about to end comes last.
 */
export function apisOfPods(objects: ReadonlyMap<string, JsonObject>, { port, isTls }: PodSeed): readonly string[] {
  const found = [...objects].flatMap(([name, object]) => {
    const [metadata, status] = [objectOf(object["metadata"]), objectOf(object["status"])];
    const ip = nameOf(status["podIP"], ipMax);
    const hasEnded = status["phase"] === "Succeeded" || status["phase"] === "Failed";
    if (ip === null || !/^[0-9a-fA-F:.]+$/.test(ip) || hasEnded) return [];
    const isEnding = typeof metadata["deletionTimestamp"] === "string";
    const rank = isEnding ? 2 : status["isReady"] === true ? 0 : 1;
    return [{ name, rank, ip }];
  });
  const sorted = found.toSorted((one, other) => one.rank - other.rank || (one.name < other.name ? -1 : 1));
  const apis = sorted.map(({ ip }) => `${isTls ? "https" : "http"}://${ip.includes(":") ? `[${ip}]` : ip}:${port}`);
  return [...new Set(apis)].slice(0, podsMax);
}
