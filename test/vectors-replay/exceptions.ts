import { majorOf } from "./version.ts";
import type { Vector } from "./vectors.long.test.ts";

/** One recorded answer of one node. */
export interface Answer {
  readonly name: string;
  readonly check: string;
  readonly own: number | null;
}

const unreadable = /[?&]lag=(banana|-1|)(&|$)|[?&]mode=banana/;
const elsewhere = ["/replica/extra", "/leader-foo", "/nosuch", "/Replica"];
/** Lag and role of a changing node may differ: its document and its answers are up to a second apart. */
const moving = ["just-after-switchover", "old-leader-thawed", "replica-reinitializing"];

/** The statuses that may differ from the node's own. test/vectors/README.md has the only list of exceptions. */
export function expected(vector: Vector, { name, check, own }: Answer): readonly number[] {
  if (unreadable.test(check) || elsewhere.includes(check)) return [400];
  const isSilent = vector.nodes[name]?.["leader"]?.status === 0;
  if (isSilent || own === null) return [503];
  if (majorOf(vector.patroni) < 4 && check.startsWith("/read-only-quorum"))
    return holdsLock(vector, name) ? [200] : [503];
  // In pause the node keeps its role without the lock, which `/leader` goes by, and `/readiness` does not.
  if (vector.scenario === "paused-dcs-down-past-ttl" && check.startsWith("/readiness") && holdsLock(vector, name))
    return [200];
  if (vector.scenario.includes("dcs-down") && /^\/(a?sync|quorum|read-only-|readiness)|[?&]lag=/.test(check))
    return [200, 503];
  if (own === 200 && ignoresReplicationState(vector) && lacksReplicationState(vector, { name, check })) return [503];
  if (check === "/sync/") return [vector.answers[name]?.["/sync"] ?? own];
  // Nodes do not know the unit and apply no limit. rolecall reads the unit, so its answer equals theirs for 1MB.
  if (check.endsWith("lag=1mb")) return [vector.answers[name]?.[check.replace("1mb", "1MB")] ?? own];
  if (moving.includes(vector.scenario)) return [own, own === 200 ? 503 : 200];
  return [own];
}

/** Released versions ignore the parameter `replication_state`. The recordings of 4.1.4 are of a development branch. */
function ignoresReplicationState({ patroni }: Vector): boolean {
  return patroni === "4.1.5";
}

/** Whether the check asks for a replication state that the node, a replica, did not report. */
function lacksReplicationState(vector: Vector, { name, check }: Omit<Answer, "own">): boolean {
  const asked = new URL(check, "http://node").searchParams.get("replication_state") ?? "";
  const document = vector.nodes[name]?.["leader"]?.doc;
  const isReported = JSON.stringify(document).includes(`"replication_state":"${asked}"`);
  return asked !== "" && !holdsLock(vector, name) && !isReported;
}

/** Whether a node answers HEAD and OPTIONS of a route as GET. Only the handlers of GET know these two routes. */
export function hasOneStatus(route: string): boolean {
  return route !== "/liveness" && route !== "/readiness";
}

function holdsLock(vector: Vector, name: string): boolean {
  return vector.nodes[name]?.["leader"]?.status === 200;
}
