import type { ClaimLoss, DecisionBasis, LeaderDecision, RefusedClaim } from "../../../cluster/leadership.ts";
import type { LeaderView, LeadershipInputs, LockClaim } from "./leadership-inputs.ts";
import { lostClaims } from "./lost-claims.ts";

/** Who leads, and which claims are lost. */
export interface ResolvedLeadership {
  readonly decision: LeaderDecision;
  readonly lostClaims: ReadonlyMap<string, ClaimLoss>;
}

/**
 * Decides who leads (rule 2): which claims are lost, and which of the others prevails. Pure. The order of claims, views
 * and nodes does not matter.
 */
export function resolveLeadership(inputs: LeadershipInputs): ResolvedLeadership {
  const lost = lostClaims(inputs);
  const eligible = inputs.claims.filter(({ node }) => !lost.has(node));
  if (inputs.claims.length === 0)
    return { decision: { kind: "unclaimed", lastHolder: inputs.lastHolder }, lostClaims: lost };
  const decision = choose(eligible, inputs);
  const { refused } = inputs;
  if (refused.size === 0 || isUnrefused(decision, refused)) return { decision, lostClaims: lost };
  const refusals = eligible.flatMap(({ node }) => {
    const mark = refused.get(node);
    return mark === undefined ? [] : [[node, withRefusal(mark, inputs.lostClaims.get(node))] as const];
  });
  const others = eligible.filter(({ node }) => !refused.has(node));
  return { decision: choose(others, inputs), lostClaims: new Map([...lost, ...refusals]) };
}

/**
 * Whether a decision may stand although some claims must not: it accepts none of these. Among several claims, one that
 * most views name may stand.
 */
function isUnrefused(decision: LeaderDecision, refused: LeadershipInputs["refused"]): boolean {
  return decision.kind === "held" && (decision.by === "views" || !refused.has(decision.holder));
}

/** The loss of a claim that no view contradicts by steps 6 and 7. @returns `before` itself if it has the same mark */
function withRefusal(refused: RefusedClaim, before: ClaimLoss | undefined): ClaimLoss {
  return before?.refused === refused ? before : { viewSentAtMs: refused.viewSentAtMs, witnesses: [], refused };
}

/**
 * Chooses among the claims that are not lost: a sole one prevails; of several, the one that views or the past prefer.
 * The views of one round arrive one after the other: a view that could still change the result is awaited, until its
 * request has failed.
 */
function choose(eligible: readonly LockClaim[], inputs: LeadershipInputs): LeaderDecision {
  const [first, ...others] = eligible;
  if (first === undefined) return { kind: "lost" };
  if (others.length === 0) return { kind: "held", holder: first.node, by: "sole", witnesses: [] };
  const appearedAtMs = Math.max(...eligible.map((claim) => claim.appearedAtMs));
  const views = inputs.views.filter(({ requestedAtMs }) => requestedAtMs > appearedAtMs);
  const awaited = awaitedWitnesses(inputs.nodes, views);
  const byViews = mostNamed(eligible, views, awaited);
  if (!("tied" in byViews)) return byViews;
  const { tied } = byViews;
  const confident = tied.filter(({ node }) => views.some(({ witness, names }) => witness === node && names === node));
  const [only, ...moreConfident] = confident;
  const isComplete = tied.every(({ node }) => !awaited.has(node));
  if (only !== undefined && moreConfident.length === 0 && isComplete)
    return held(only, "own_view", [{ witness: only.node }]);
  const incumbent = tied.find(({ node }) => node === inputs.incumbent);
  if (incumbent !== undefined) return held(incumbent, "incumbent", []);
  const [ahead, ...equal] = withMost(tied, ({ timeline }) => timeline ?? -1);
  if (ahead !== undefined && equal.length === 0) return held(ahead, "timeline", []);
  return { kind: "contested", between: tied.map(({ node }) => node).toSorted() };
}

/**
 * Returns the claim that most views of non-claimants name, or the tied ones. While awaited views could change the
 * result, all claims that may still win are tied.
 */
function mostNamed(
  eligible: readonly LockClaim[],
  views: readonly LeaderView[],
  awaited: ReadonlySet<string>,
): LeaderDecision | { readonly tied: readonly LockClaim[] } {
  const isNeutral = (witness: string): boolean => eligible.every(({ node }) => node !== witness);
  const votesFor = (claim: LockClaim): readonly LeaderView[] =>
    views.filter(({ names, witness }) => names === claim.node && isNeutral(witness));
  const open = [...awaited].filter(isNeutral).length;
  const most = Math.max(...eligible.map((claim) => votesFor(claim).length));
  const tied = eligible.filter((claim) => votesFor(claim).length + open >= most);
  const [named, ...equal] = tied;
  return named !== undefined && equal.length === 0 ? held(named, "views", votesFor(named)) : { tied };
}

/**
 * The nodes whose views are awaited: they answer, and have neither given a view since the claims appeared nor failed
 * to.
 */
function awaitedWitnesses(nodes: LeadershipInputs["nodes"], views: readonly LeaderView[]): ReadonlySet<string> {
  const open = [...nodes].filter(
    ([, { canTestify, isSilent, isViewFailing }]) => canTestify && !isSilent && !isViewFailing,
  );
  return new Set(open.flatMap(([node]) => (views.some(({ witness }) => witness === node) ? [] : [node])));
}

function held({ node }: LockClaim, by: DecisionBasis, views: readonly Pick<LeaderView, "witness">[]): LeaderDecision {
  return { kind: "held", holder: node, by, witnesses: views.map(({ witness }) => witness).toSorted() };
}

function withMost(claims: readonly LockClaim[], of: (claim: LockClaim) => number): readonly LockClaim[] {
  const most = Math.max(...claims.map(of));
  return claims.filter((claim) => of(claim) === most);
}
