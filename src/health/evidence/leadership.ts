import type { DecisionBasis, LeaderDecision, LostClaim } from "../../cluster/leadership.ts";

/** A node that claims the lock: a fresh 200 of `GET /leader`. */
export interface LockClaim {
  readonly node: string;
  /** When the request was sent that first saw the claim, in ms of our clock. */
  readonly appearedAtMs: number;
  readonly timeline: number | null;
  readonly isPaused: boolean;
  readonly isFailsafe: boolean;
  /** Whether the node can be asked for a view of its own. One that is known through its exporter alone cannot. */
  readonly hasApi: boolean;
}

/** Whom a witness's newest `/cluster` names. Instants in ms of our clock. */
export interface LeaderView {
  readonly witness: string;
  /** A node's name (a name that no node has stays as it is), or `null` for nobody. */
  readonly names: string | null;
  /** The API address at which the view has that node, where it states one. */
  readonly namesAt: string | null;
  readonly requestedAtMs: number;
  readonly answeredAtMs: number;
  /** When the witness's view of at least one interval earlier was requested, where that and all since named nobody. */
  readonly nobodySinceMs: number | null;
}

/** What a node's newest answers say for or against an accusation that names it, or that is raised against its claim. */
export interface NodeAnswers {
  /** When the probe was sent that brought its newest report, in ms of our clock; -Infinity where it never answered. */
  readonly reportedAtMs: number;
  /** Whether that report came with the lock. */
  readonly hasLock: boolean;
  /** Whether its newest status probe failed. */
  readonly isSilent: boolean;
  /** Whether its newest request for `/cluster` failed. */
  readonly isViewFailing: boolean;
  /** Whether its views count: it has an API, and is the node that is meant. */
  readonly canTestify: boolean;
  /** Where it is asked, to be compared with what views state; `null` where it may well be reached at another address than it advertises. */
  readonly api: string | null;
}

/** All that decides who leads. */
export interface LeadershipInputs {
  /** The claims that count against each other. */
  readonly claims: readonly LockClaim[];
  /** The newest view of each witness, where it is young enough to count. */
  readonly views: readonly LeaderView[];
  /** By node name. */
  readonly nodes: ReadonlyMap<string, NodeAnswers>;
  /** The claims that were lost before, by node name. */
  readonly lostClaims: ReadonlyMap<string, LostClaim>;
  /** The last uncontested leader, kept while no node claims the lock. */
  readonly lastHolder: string | null;
  /** The node that breaks ties: see `Leadership`. */
  readonly incumbent: string | null;
}

/** Who leads, and which claims are lost from now on. */
export interface ResolvedLeadership {
  readonly decision: LeaderDecision;
  readonly lostClaims: ReadonlyMap<string, LostClaim>;
}

/**
 * Decides who leads (design.md, rule 2, "One primary"): which claims views take away, and which of the others stands. Pure; the order in
 * which claims, views and nodes are listed never matters.
 */
export function resolveLeadership(inputs: LeadershipInputs): ResolvedLeadership {
  const lost = lostClaims(inputs);
  const eligible = inputs.claims.filter(({ node }) => !lost.has(node));
  const isUnclaimed = inputs.claims.length === 0;
  const decision: LeaderDecision = isUnclaimed
    ? { kind: "unclaimed", lastHolder: inputs.lastHolder }
    : choose(eligible, inputs);
  return { decision, lostClaims: lost };
}

/** Silence does not end a claim, so it does not end the loss of one either: a lost claim that is not fresh stays in the map. */
function lostClaims(inputs: LeadershipInputs): ReadonlyMap<string, LostClaim> {
  const lost = new Map<string, LostClaim>();
  for (const [node, before] of inputs.lostClaims) if (inputs.nodes.get(node)?.hasLock === true) lost.set(node, before);
  for (const claim of inputs.claims) {
    const loss = lossOf(claim, inputs);
    if (loss === null) lost.delete(claim.node);
    else lost.set(claim.node, loss);
  }
  return lost;
}

/** The loss of one claim, a new one or one that goes on; `null` where the claim is not lost. */
function lossOf(claim: LockClaim, inputs: LeadershipInputs): LostClaim | null {
  // The DCS is down and every member agreed that this one goes on: no view is newer than that.
  if (claim.isFailsafe) return null;
  const before = inputs.lostClaims.get(claim.node);
  const against = viewsAgainst(claim, inputs, before !== undefined);
  if (against.length > 0) {
    const viewMs = Math.max(...against.map(({ requestedAtMs }) => requestedAtMs));
    const witnesses = against.map(({ witness }) => witness).toSorted();
    return before?.viewMs === viewMs && before.witnesses.join() === witnesses.join() ? before : { viewMs, witnesses };
  }
  return before === undefined || isGivenBack(claim, before, inputs.views) ? null : before;
}

/**
 * The views that take a claim away: its own, or those of two other witnesses, or that of one while its own view, asked no earlier, does
 * not name it. Without an API nothing of its own can speak for a claim: one witness is enough.
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
 * Whether a view accuses a claim and the accusation has taken effect. Against a claim that is lost already nothing is waited for, nor
 * does a view that names nobody have to be confirmed: what is open does not give a claim back.
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
  } else if (isRefuted(view, inputs.nodes.get(names))) return false;
  return isLost || !isPending(view, claim, inputs);
}

/** The named node said itself, asked after the view had come and where the view has it, that it holds no lock. */
function isRefuted(view: LeaderView, named: NodeAnswers | undefined): boolean {
  return named !== undefined && isMeant(view, named) && !named.hasLock && named.reportedAtMs > view.answeredAtMs;
}

/** Whether the node that we ask is where the view has it: what answers elsewhere under its name may be another. */
function isMeant({ namesAt }: LeaderView, { api }: NodeAnswers): boolean {
  return namesAt === null || api === null || namesAt === api;
}

/** Whether the named node, or the claimant's own `/cluster`, has neither answered since nor failed to. */
function isPending(view: LeaderView, claim: LockClaim, { nodes, views }: LeadershipInputs): boolean {
  const { names, answeredAtMs, requestedAtMs } = view;
  const named = nodes.get(names ?? "");
  if (
    named !== undefined &&
    isMeant(view, named) &&
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
 * Whether a lost claim, which nothing takes away any more, is given back: a newer view must speak for it, or every witness that took it away
 * must have given a newer view. Silence and age alone do not: a view counts against the claim until it is replaced or too old.
 */
function isGivenBack({ node }: LockClaim, { viewMs, witnesses }: LostClaim, views: readonly LeaderView[]): boolean {
  const newer = views.filter(({ requestedAtMs }) => requestedAtMs > viewMs);
  return (
    newer.some(({ names }) => names === node) ||
    witnesses.every((name) => newer.some(({ witness }) => witness === name))
  );
}

/**
 * Of the claims that are not lost a sole one stands; of several one that views, or what was before, prefer. Views of one round come one
 * after the other: a witness whose view could still change the result is waited for, until its request has failed.
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
  const [sure, ...alsoSure] = confident;
  const isSettled = tied.every(({ node }) => !awaited.has(node));
  if (sure !== undefined && alsoSure.length === 0 && isSettled) return held(sure, "own_view", [{ witness: sure.node }]);
  const stood = tied.find(({ node }) => node === inputs.incumbent);
  if (stood !== undefined) return held(stood, "incumbent", []);
  const [ahead, ...alike] = withMost(tied, ({ timeline }) => timeline ?? -1);
  if (ahead !== undefined && alike.length === 0) return held(ahead, "timeline", []);
  return { kind: "contested", between: tied.map(({ node }) => node).toSorted() };
}

/**
 * The claim that most views of witnesses without such a claim name, or those that are tied. While views are awaited that could make
 * another the most named, all claims that may still win are tied.
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

/** The nodes that are being asked: they answer, and have neither given a view since the claims appeared nor failed to. */
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
