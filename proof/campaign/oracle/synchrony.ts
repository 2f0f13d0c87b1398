import { documentOf, type Served } from "../wire/served.ts";
import { held, type Rule, routeOf, type Scene, slackMs, tell } from "./scene.ts";

/** What each route asks of the two flags of a node's document; a `read-only` route is fit for the leader too. */
const routes: Readonly<Record<string, { readonly wants: "sync" | "quorum" | "async"; readonly orLeader: boolean }>> = {
  "/sync": { wants: "sync", orLeader: false },
  "/read-only-sync": { wants: "sync", orLeader: true },
  "/quorum": { wants: "quorum", orLeader: false },
  "/read-only-quorum": { wants: "quorum", orLeader: true },
  "/async": { wants: "async", orLeader: false },
};

/**
 * A yes that depends on synchronous replication needs the flag in the node's own document, and a no for lack of it
 * needs a document without it (the node API; a definite answer takes effect at once).
 */
export const synchronyIsTrue: Rule = (scene, answer) => {
  const { node, status, check, askedMs, word } = answer;
  const route = routes[routeOf(check)];
  if (node === null || route === undefined) return null;
  const reports = reportsOf(scene, node, askedMs);
  if (reports.length === 0) return null;
  const isMet = (served: Served): boolean => meets(served, route.wants);
  const detail = (): string => tell(reports[0], answer);
  if (status === 200) {
    const isLeader = (served: Served): boolean => route.orLeader && served.status === 200;
    const isTrue = reports.some((one) => isMet(one) || isLeader(one));
    return held(scene, "synchrony", !isTrue, () => `yes to ${check}: ${detail()}`);
  }
  if (word?.reason !== `not_${route.wants}`) return null;
  return held(scene, "synchrony", reports.every(isMet), () => `${word.reason}, but it says: ${detail()}`);
};

/** The newest answer of a node that rolecall certainly has, and all that it may have had since. */
function reportsOf(scene: Scene, node: string, askedMs: number): readonly Served[] {
  const { evidence, profile } = scene;
  const byMs = askedMs - slackMs(scene, askedMs - profile.maxAgeMs, askedMs);
  const newest = evidence.newestSure(node, "status", byMs);
  if (newest === undefined) return [];
  return evidence.since(node, "status", newest.arrivedMs).filter((one) => one === newest || evidence.isPossible(one));
}

function meets(served: Served, wants: "sync" | "quorum" | "async"): boolean {
  const document = documentOf(served);
  const [isSync, isQuorum] = [document?.["sync_standby"] === true, document?.["quorum_standby"] === true];
  if (wants === "async") return !isSync && !isQuorum;
  return wants === "sync" ? isSync : isQuorum;
}
