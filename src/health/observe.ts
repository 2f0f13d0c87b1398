import type { Observation } from "../cluster/observation.ts";
import type { ExporterOutcome, LivenessOutcome, Outcome, StatusOutcome } from "../cluster/outcome.ts";
import type { Report } from "../cluster/report.ts";
import type { ClusterPart, DocumentAnswer } from "../cluster/snapshot.ts";
import { observedAgain } from "./again.ts";
import { withDrains } from "./drain.ts";
import { answerThrough, isLeadingAsking } from "./exporter-node.ts";
import { isSameButAge } from "./facts.ts";
import { unanswered } from "./failures.ts";
import { isFresh, maxAgeMs } from "./freshness.ts";
import { withIncumbent } from "./incumbent.ts";
import { settledStanding, type SettledStanding } from "./leader.ts";
import { withDivergence } from "./divergence.ts";
import { withMembers } from "./membership.ts";
import { advancePosition, positionOfDarkLeader, statesPosition } from "./position.ts";
import { observeExporter } from "./observe-exporter.ts";
import { withBearings, withListedMeasured, withWindowsAnew } from "./seen.ts";
import type { Settings } from "./settings.ts";
import { withFailedView, withView } from "./testimony.ts";
import { lookUpon } from "./sight.ts";
import { carriedSamples, withSample } from "./time-lag.ts";

/** What an outcome is taken in by, and when. */
export interface Context {
  readonly settings: Settings;
  /** The instant of recording, in ms of our clock. */
  readonly nowMs: number;
}

/**
 * Takes one outcome into a cluster's part and gives the next one. Pure: probes write through this and nothing else.
 * @returns the same part when the outcome says nothing new (an unknown node, an answer older than the one held)
 */
export function observe(part: ClusterPart, outcome: Outcome, context: Context): ClusterPart {
  const next = take(withIncumbent(part, context), outcome, context);
  return next === part || isSameButAge(part, next, context) ? next : { ...next, facts: part.facts + 1 };
}

function take(part: ClusterPart, outcome: Outcome, context: Context): ClusterPart {
  switch (outcome.kind) {
    case "status":
      return observedAgain(part, outcome, context) ?? withStatus(part, outcome, context);
    case "liveness":
      return withLiveness(part, outcome);
    case "document":
      return settle(part, withDocument(part, outcome.answer, context), context);
    case "view_failure":
      return settle(part, withFailedView(part, outcome.node, outcome.sentAtMs), context);
    case "drain":
      return withDrains(part, outcome.node, { drain: outcome.drain, nowMs: context.nowMs });
    case "exporter":
      return settle(part, withExporter(part, outcome, context), context);
  }
}

/**
 * Remembers who holds the lock now: the next dispute is judged by it, a new holder may have to wait for the old one's yes to
 * be gone, and what counts against a leader counts anew against another.
 */
function settle(before: ClusterPart, part: ClusterPart, context: Context & { readonly settled?: SettledStanding }): ClusterPart {
  const { settings, nowMs } = context;
  const settled = context.settled ?? settledStanding(part, settings, nowMs);
  const { holder, claims, leadership, lost } = settled;
  const stood = holder ?? (claims.length === 0 ? part.stood : null);
  const isOther = (stood !== null && stood !== before.stood) || part.position?.timeline !== before.position?.timeline;
  const anew = isOther ? withWindowsAnew(part, nowMs) : part;
  const current = withDivergence(anew, (seen) => lookUpon(seen, settled, context));
  const isSame = leadership === part.leadership && lost === part.lost;
  if (isSame && stood === part.stood && holder === part.holder) return current;
  const withdrawn = part.holder !== null && holder !== part.holder ? { from: part.holder, atMs: nowMs } : part.withdrawn;
  return withIncumbent({ ...current, stood, leadership, lost, holder, withdrawn }, context);
}

function withStatus(part: ClusterPart, outcome: StatusOutcome, context: Context): ClusterPart {
  const { settings } = context;
  const at = part.index.get(outcome.node);
  const before = at === undefined ? undefined : part.nodes[at];
  if (at === undefined || before === undefined || outcome.sentAtMs < before.sentAtMs) return settle(part, part, context);
  const { result, sentAtMs, sentAtWallMs } = outcome;
  // What was never sent shows nothing of the node: its evidence ages, and so says that we are blind (rule 9).
  if ("failure" in result && result.failure.kind === "not_sent") return settle(part, part, context);
  if ("failure" in result)
    return settle(part, withNode(part, at, unanswered(before, { failure: result.failure, sentAtMs }, settings)), context);
  const observation = answered(before, { ...result, sentAtMs, sentAtWallMs }, { settings, maxAge: maxAgeMs(part, settings) });
  const { heard, settled } = withReport(part, { at, before, observation }, context);
  return settle(part, heard, { ...context, settled });
}

type Answer = Pick<Observation, "hasLock" | "sentAtMs" | "sentAtWallMs"> & { readonly report: Report };

function answered(before: Observation, answer: Answer, by: { readonly settings: Settings; readonly maxAge: number }): Observation {
  const answersInRow = before.answersInRow + 1;
  return {
    ...before,
    ...answer,
    claimedSinceMs: claimedSince(before, answer, by.maxAge),
    lastHeldAtMs: answer.hasLock ? answer.sentAtMs : before.lastHeldAtMs,
    failuresInRow: 0,
    answersInRow,
    failure: null,
    isDown: before.isDown && answersInRow < by.settings.rise,
  };
}

/** A claim is a row of 200s; silence longer than `max_age` breaks it, for the lock may have been elsewhere meanwhile. */
function claimedSince(before: Observation, { hasLock, sentAtMs }: Answer, maxAge: number): number | null {
  if (!hasLock) return null;
  const goesOn = before.claimedSinceMs !== null && isFresh(before, maxAge, sentAtMs);
  return goesOn ? before.claimedSinceMs : sentAtMs;
}

interface SeenNode {
  readonly at: number;
  /** What was known of the node when its report came, and what is with it. */
  readonly before: Observation;
  readonly observation: Observation;
}

/** A part with a report taken in, and who holds the lock in it. */
interface Heard {
  readonly heard: ClusterPart;
  readonly settled: SettledStanding;
}

/** What one node's report says of the whole cluster (its scope, the claims on the lock, the leader's position), and that of it. */
function withReport(part: ClusterPart, { at, before, observation }: SeenNode, context: Context): Heard {
  const { settings, nowMs } = context;
  const { report, hasLock, sentAtMs } = observation;
  const claimed: ClusterPart = {
    ...part,
    nodes: part.nodes.with(at, observation),
    scope: part.scope ?? report?.scope ?? null,
    claims: claimsWith(part.claims, at, hasLock),
    newestAtMs: Math.max(part.newestAtMs, sentAtMs),
  };
  // Nothing of what follows has a word in who leads, so once is enough.
  const settled = settledStanding(claimed, settings, nowMs);
  const isHolder = settled.holder === observation.node.name;
  const position = advancePosition(claimed, { before, observation, holder: settled.holder, nowMs }, settings);
  // A leader that states no position (its own query failed) may have moved on unseen.
  const isMeasured = isHolder && report !== null && statesPosition(report);
  const carried = carriedSamples(claimed, position, isMeasured ? before : null);
  const positionSamples = isMeasured ? withSample(carried, position, sentAtMs) : carried;
  const measured: ClusterPart = { ...claimed, position, positionSamples };
  const bearings = { settings, nowMs, settled };
  const noted = withNode(measured, at, withBearings(measured, { before, after: observation }, bearings));
  return { heard: withListedMeasured(noted, { lister: observation, known: part.position }, bearings), settled };
}

function claimsWith(claims: readonly number[], at: number, hasLock: boolean): readonly number[] {
  if (claims.includes(at) === hasLock) return claims;
  return hasLock ? [...claims, at] : claims.filter((index) => index !== at);
}

function withLiveness(part: ClusterPart, outcome: LivenessOutcome): ClusterPart {
  const at = part.index.get(outcome.node);
  const before = at === undefined ? undefined : part.nodes[at];
  if (at === undefined || before === undefined) return part;
  return withNode(part, at, { ...before, liveness: { isAlive: outcome.isAlive, sentAtMs: outcome.sentAtMs } });
}

/** An exporter is a witness beside the node's API; of a node without one it speaks for the node itself. */
function withExporter(part: ClusterPart, outcome: ExporterOutcome, context: Context): ClusterPart {
  const { settings } = context;
  const at = part.index.get(outcome.node);
  const known = at === undefined ? undefined : part.nodes[at];
  if (at === undefined || known === undefined) return part;
  const { said, sentAtWallMs } = outcome;
  if ("failure" in said && said.failure.kind === "not_sent") return part;
  const exporter = observeExporter(known.exporter, outcome);
  const before = { ...known, exporter };
  const noted = withNode(part, at, before);
  if (known.node.api !== null || exporter === known.exporter) return noted;
  if ("failure" in said)
    return isLeadingAsking(exporter, said.asked)
      ? withNode(part, at, unanswered(before, { failure: said.failure, sentAtMs: outcome.sentAtMs }, settings))
      : noted;
  const answer = answerThrough(noted, known.node, exporter);
  if (answer === null) return noted;
  const isPage = said.asked === "metrics";
  // Positions are as old as their page, and a page may be older than the last word.
  const sentAtMs = isPage ? Math.min(answer.sentAtMs, outcome.sentAtMs) : answer.sentAtMs;
  const observation = answered(before, { ...answer, sentAtMs, sentAtWallMs }, { settings, maxAge: maxAgeMs(part, settings) });
  if (isPage) return withReport(noted, { at, before, observation }, context).heard;
  const heard = withNode(noted, at, observation);
  return { ...heard, claims: claimsWith(heard.claims, at, answer.hasLock), newestAtMs: Math.max(heard.newestAtMs, sentAtMs) };
}

function withDocument(part: ClusterPart, answer: DocumentAnswer, { settings, nowMs }: Context): ClusterPart {
  const { name, served, cluster, config, history } = answer;
  if (cluster !== undefined && cluster.scope !== null && part.scope !== null && cluster.scope !== part.scope) return part;
  const next: ClusterPart = {
    ...part,
    documents: { ...part.documents, [name]: served },
    config: config ?? part.config,
    switchPoints: history ?? part.switchPoints,
  };
  if (cluster === undefined) return next;
  const scoped = { ...next, scope: next.scope ?? cluster.scope };
  const { askedOf, sentAtMs } = served;
  const known = settings.discovers ? withMembers(scoped, { ...cluster, askedOf, sentAtMs }, settings) : scoped;
  // The leader may be a member that this very document made known.
  const listed = withView(known, cluster, { witness: askedOf, sentAtMs, nowMs });
  const position = positionOfDarkLeader(listed, settings, nowMs);
  return position === listed.position ? listed : { ...listed, position, positionSamples: carriedSamples(listed, position, null) };
}

function withNode(part: ClusterPart, at: number, observation: Observation): ClusterPart {
  return { ...part, nodes: part.nodes.with(at, observation) };
}
