import type { Withdrawal } from "../../cluster/dcs.ts";
import type { DecisionBasis, LeaderDecision, ClaimLoss } from "../../cluster/leadership.ts";
import { hasSameViews, lossByViews, withWithdrawal } from "./dcs-withdrawals.ts";

/** A node that claims the lock: a fresh 200 of `GET /leader`. */
export interface LockClaim {
  readonly node: string;
  /** When the request was sent that first saw the claim, in ms of rolecall's clock. */
  readonly appearedAtMs: number;
  readonly timeline: number | null;
  readonly isPaused: boolean;
  readonly isFailsafe: boolean;
  /** Whether the node can give a view. A node known through its exporter alone cannot. */
  readonly hasApi: boolean;
}

/** Whom a node's newest `/cluster` names as the leader. Instants in ms of rolecall's clock. */
export interface LeaderView {
  readonly witness: string;
  /** The leader's name, also if no node has it; `null` for nobody. */
  readonly names: string | null;
  /** That node's API address in the view; `null` if the view has none. */
  readonly namesAt: string | null;
  readonly requestedAtMs: number;
  readonly answeredAtMs: number;
  /** When the witness's view at least one interval earlier was requested, if it and all views since named nobody. */
  readonly nobodySinceMs: number | null;
}

/** A node's newest answers, which support or contradict an accusation that names it or that is against its claim. */
export interface NodeAnswers {
  /** When the probe of its newest report was sent, in ms of rolecall's clock; -Infinity if it never answered. */
  readonly reportedAtMs: number;
  /** Whether that report came with the lock. */
  readonly hasLock: boolean;
  /** Whether its newest status probe failed. */
  readonly isSilent: boolean;
  /** Whether its newest request for `/cluster` failed. */
  readonly isViewFailing: boolean;
  /** Whether its views count: it has an API and is correctly identified. */
  readonly canTestify: boolean;
  /**
   * Its probed API address, to compare with views; `null` if it may be reached at another address than it advertises.
   */
  readonly api: string | null;
}

/** Everything that decides who leads. */
export interface LeadershipInputs {
  /** The competing claims. */
  readonly claims: readonly LockClaim[];
  /** The newest view of each witness, unless it is too old to count. */
  readonly views: readonly LeaderView[];
  /** By node name. */
  readonly nodes: ReadonlyMap<string, NodeAnswers>;
  /** The claims that were lost before, by node name. */
  readonly lostClaims: ReadonlyMap<string, ClaimLoss>;
  /** The nodes whose yes the DCS withdraws. */
  readonly withdrawals: ReadonlyMap<string, Withdrawal>;
  /** The last uncontested leader, kept while no node claims the lock. */
  readonly lastHolder: string | null;
  /** The node that breaks ties: see `Leadership`. */
  readonly incumbent: string | null;
}

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
  const decision: LeaderDecision =
    inputs.claims.length === 0 ? { kind: "unclaimed", lastHolder: inputs.lastHolder } : choose(eligible, inputs);
  return { decision, lostClaims: lost };
}

/** Silence does not end a claim, nor the loss of one: a lost claim that is not fresh stays in the map. */
function lostClaims(inputs: LeadershipInputs): ReadonlyMap<string, ClaimLoss> {
  const lost = new Map<string, ClaimLoss>();
  for (const [node, before] of inputs.lostClaims) if (inputs.nodes.get(node)?.hasLock === true) lost.set(node, before);
  for (const claim of inputs.claims) {
    const loss = lossOf(claim, inputs);
    if (loss === null) lost.delete(claim.node);
    else lost.set(claim.node, loss);
  }
  return lost;
}

/** The new or continued loss of one claim, to views or to the DCS; `null` if the claim is not lost. */
function lossOf(claim: LockClaim, inputs: LeadershipInputs): ClaimLoss | null {
  const before = inputs.lostClaims.get(claim.node);
  return withWithdrawal(lossToViews(claim, inputs, lossByViews(before)), before, inputs.withdrawals.get(claim.node));
}

function lossToViews(claim: LockClaim, inputs: LeadershipInputs, before: ClaimLoss | undefined): ClaimLoss | null {
  // The DCS is down, and every member agreed that this node continues: no view is newer than that.
  if (claim.isFailsafe) return null;
  const against = viewsAgainst(claim, inputs, before !== undefined);
  if (against.length > 0) {
    const viewSentAtMs = Math.max(...against.map(({ requestedAtMs }) => requestedAtMs));
    const loss = { viewSentAtMs, witnesses: against.map(({ witness }) => witness).toSorted() };
    return before !== undefined && hasSameViews(before, loss) ? before : loss;
  }
  return before === undefined || isRestored(claim, before, inputs.views) ? null : before;
}

/**
 * The views that contradict a claim: the claimant's own; or those of two other witnesses; or that of one, if the
 * claimant's own view, requested no earlier, does not name it. A claimant without an API has no view of its own, so one
 * witness is enough.
 */
function viewsAgainst(claim: LockClaim, inputs: LeadershipInputs, isLost: boolean): readonly LeaderView[] {
  const accusing = inputs.views.filter((view) => accuses(view, claim, { inputs, isLost }));
  const own = inputs.views.find(({ witness }) => witness === claim.node);
  if (own !== undefined && accusing.includes(own)) return [own];
  const [first, ...more] = accusing;
  if (first === undefined || more.length > 0 || !claim.hasApi) return accusing;
  const isUnconfirmed = own !== undefined && own.names !== claim.node && own.requestedAtMs >= first.requestedAtMs;
  return isUnconfirmed ? [first, own] : [];
}

/**
 * Whether a view accuses a claim and the accusation has taken effect. An accusation of a claim that is already lost
 * takes effect at once, and a view that names nobody needs no confirmation: open questions do not restore a claim.
 */
function accuses(
  view: LeaderView,
  claim: LockClaim,
  { inputs, isLost }: { readonly inputs: LeadershipInputs; readonly isLost: boolean },
): boolean {
  const { names, witness, requestedAtMs, nobodySinceMs } = view;
  if (requestedAtMs <= claim.appearedAtMs || names === claim.node || names === witness) return false;
  if (names === null) {
    if (claim.isPaused || !claim.hasApi) return false;
    if (!isLost && (nobodySinceMs === null || nobodySinceMs <= claim.appearedAtMs)) return false;
  } else if (isContradicted(view, inputs.nodes.get(names))) return false;
  return isLost || !isPending(view, claim, inputs);
}

/** Whether the named node, probed after the view at the address in the view, reported that it holds no lock. */
function isContradicted(view: LeaderView, named: NodeAnswers | undefined): boolean {
  return named !== undefined && isSameServer(view, named) && !named.hasLock && named.reportedAtMs > view.answeredAtMs;
}

/** Whether we probe the node at the address in the view: another server may answer elsewhere under its name. */
function isSameServer({ namesAt }: LeaderView, { api }: NodeAnswers): boolean {
  return namesAt === null || api === null || namesAt === api;
}

/** Whether the named node, or the claimant's own `/cluster`, has neither answered nor failed since the view. */
function isPending(view: LeaderView, claim: LockClaim, { nodes, views }: LeadershipInputs): boolean {
  const { names, answeredAtMs, requestedAtMs } = view;
  const named = nodes.get(names ?? "");
  if (
    named !== undefined &&
    isSameServer(view, named) &&
    !named.hasLock &&
    !named.isSilent &&
    named.reportedAtMs <= answeredAtMs
  )
    return true;
  const claimant = nodes.get(claim.node);
  if (!claim.hasApi || claimant?.isSilent === true || claimant?.isViewFailing === true) return false;
  return !views.some((own) => own.witness === claim.node && own.requestedAtMs >= requestedAtMs);
}

/**
 * Whether a lost claim that no view contradicts any more is restored: a newer view must name the claimant, or every
 * witness against it must have given a newer view. Silence and age alone do not restore it.
 */
function isRestored({ node }: LockClaim, loss: ClaimLoss, views: readonly LeaderView[]): boolean {
  const newer = views.filter(({ requestedAtMs }) => requestedAtMs > loss.viewSentAtMs);
  const isSuperseded = (name: string): boolean => newer.some(({ witness }) => witness === name);
  return newer.some(({ names }) => names === node) || loss.witnesses.every(isSuperseded);
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
