import type { Said } from "../rolecall/asker.ts";
import { documentOf, namedLeader, type Served } from "../wire/served.ts";
import { firstClaim } from "./claims.ts";
import { allowsLeader, held, leaderRoute, type Rule, routeOf, type Scene, slackMs } from "./scene.ts";

/** For how long before an answer no node may have lied, nor a clone have answered, in ms. */
const honestMs = 20_000;

/**
 * A sole claim stands at once (rule 2): the newest answer of a node says that it holds the lock and can be written to,
 * no other node's claim can still count, and nothing contradicts it: no view since it appeared, and no read of the DCS.
 * One that was refused beside another node before, and whose node said no only after that one had fallen silent, waits
 * for a view.
 */
export const soleClaimStands: Rule = (scene, answer) => {
  const { node, status, check, askedMs } = answer;
  if (node === null || routeOf(check) !== leaderRoute(scene)) return null;
  // Another promise checks whether this is true: silence.
  if (answer.phrase.startsWith("down")) return null;
  const claim = soleClaim(scene, answer, node);
  if (claim === null || isContradicted(scene, node, claim.arrivedMs) || mayBeMarked(scene, node, claim)) return null;
  const lateMs = Math.round(askedMs - claim.arrivedMs);
  const detail = (): string => `refused ${lateMs} ms after its sole claim: ${answer.phrase}`;
  return held(scene, "sole-claim", status !== 200, detail);
};

/** The first answer of a claim that rolecall surely knows and that is the only one; null otherwise. */
function soleClaim(scene: Scene, { askedMs }: Said, node: string): Served | null {
  const { evidence, profile, troubles, world } = scene;
  const slack = slackMs(scene, askedMs - profile.maxAgeMs, askedMs);
  const newest = evidence.newestSure(node, "status", askedMs - slack);
  if (newest === undefined || newest.arrivedMs < askedMs - profile.maxAgeMs + slack) return null;
  const own = evidence.since(node, "status", newest.arrivedMs).filter(({ document }) => document !== null);
  if (!own.every((served) => served.status === 200 && isLeading(scene, served))) return null;
  const honestFromMs = askedMs - honestMs;
  if (!world.nodes.every(({ name }) => troubles.isFree(name, honestFromMs, "guest", "guestEver", "moved", "claim")))
    return null;
  const countsFromMs = askedMs - profile.maxAgeMs - profile.timeoutMs - slack;
  const hasRival = world.nodes.some(({ name }) => {
    const known = evidence.newestSure(name, "status", askedMs - slack)?.arrivedMs ?? -Infinity;
    const answers = evidence.since(name, "status", Math.max(known, countsFromMs));
    return name !== node && answers.some(({ status: code }) => code === 200);
  });
  // A claim after the node's own no is new: nothing that was decided before counts.
  const first = firstClaim(scene, node, askedMs);
  return hasRival || first === undefined || !hasDenied(scene, node, first) ? null : first;
}

/** Whether an answer shows a node that can be written to; in a standby cluster: its leader. */
function isLeading(scene: Scene, served: Served): boolean {
  const document = documentOf(served);
  return allowsLeader(document, leaderRoute(scene)) && document?.["role"] !== "replica";
}

/** Whether rolecall surely knows that a node held no lock before its claim. */
function hasDenied({ evidence }: Scene, node: string, { arrivedMs }: Served): boolean {
  // The claim itself may be answered at the instant of its arrival.
  return evidence.newestSure(node, "status", arrivedMs - 0.001)?.status === 503;
}

/** Whether an earlier claim of a node may have been refused beside another one, which has not answered since its no. */
function mayBeMarked({ evidence, world, profile }: Scene, node: string, { arrivedMs }: Served): boolean {
  const own = evidence.since(node, "status", -Infinity).filter((served) => served.arrivedMs < arrivedMs);
  const claimedMs = own.findLast(({ status }) => status === 200)?.arrivedMs;
  if (claimedMs === undefined) return false;
  const deniedMs = own.find(({ status, arrivedMs: atMs }) => status === 503 && atMs > claimedMs)?.arrivedMs ?? Infinity;
  const rivals = world.nodes
    .filter(({ name }) => name !== node)
    .map(({ name }) => evidence.since(name, "status", claimedMs).findLast(({ status }) => status === 200)?.arrivedMs);
  return rivals.some((atMs) => atMs !== undefined && atMs < deniedMs + profile.slackMs);
}

/** Whether a view since an instant, or a read of the DCS, speaks against a claim. */
export function isContradicted(scene: Scene, node: string, sinceMs: number): boolean {
  const { evidence, profile, replacedMs, world } = scene;
  const fromMs = sinceMs - profile.slackMs;
  const views = world.nodes.flatMap(({ name }) => [...evidence.since(name, "cluster", fromMs)]);
  if (views.some((view) => view.document !== null && namedLeader(view) !== node)) return true;
  // What the DCS withdrew ends with the node's own no after it.
  const replaced = replacedMs.get(node);
  return replaced !== undefined && !isDeniedAfter(scene, node, replaced);
}

function isDeniedAfter({ evidence, profile }: Scene, node: string, fromMs: number): boolean {
  return evidence
    .since(node, "status", fromMs + profile.slackMs)
    .some((served) => served.status === 503 && evidence.isSure(served));
}
