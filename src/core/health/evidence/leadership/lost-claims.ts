import type { ClaimLoss } from "../../../cluster/leadership.ts";
import { hasSameViews, lossByViews, withWithdrawal } from "./dcs-withdrawals.ts";
import type { LeaderView, LeadershipInputs, LockClaim, NodeAnswers } from "./leadership-inputs.ts";

/**
 * Returns the lost claims, by node name (rule 2; proof/rules.md, steps 1 to 8 and what follows them about the DCS).
 * Pure. Silence does not end the loss of a claim: it stays in the map although the claim is not fresh any more.
 */
export function lostClaims(inputs: LeadershipInputs): ReadonlyMap<string, ClaimLoss> {
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
 * The views because of which a claim is lost: the claimant's own; or those of two other witnesses; or that of one other
 * witness and the claimant's own, if that was requested no earlier and does not name the claimant. A claimant without
 * an API has no view of its own, so one witness is enough.
 */
function viewsAgainst(claim: LockClaim, inputs: LeadershipInputs, isLost: boolean): readonly LeaderView[] {
  const against = inputs.views.filter((view) => contradicts(view, claim, { inputs, isLost }));
  const own = inputs.views.find(({ witness }) => witness === claim.node);
  if (own !== undefined && against.includes(own)) return [own];
  const [first, ...more] = against;
  if (first === undefined || more.length > 0 || !claim.hasApi) return against;
  // Not when the contradiction began: the node that it names may have denied it since.
  const isUnconfirmed = own !== undefined && own.names !== claim.node && own.requestedAtMs >= first.requestedAtMs;
  return isUnconfirmed ? [first, own] : [];
}

/**
 * Whether a view contradicts a claim, and this has taken effect. If the claim is already lost, a contradiction takes
 * effect at once, and one view that names nobody is enough: open questions do not restore a claim.
 */
function contradicts(
  view: LeaderView,
  claim: LockClaim,
  { inputs, isLost }: { readonly inputs: LeadershipInputs; readonly isLost: boolean },
): boolean {
  const { names, witness, requestedAtMs } = view;
  if (requestedAtMs <= claim.appearedAtMs || names === claim.node || names === witness) return false;
  if (names === null) {
    if (claim.isPaused || !claim.hasApi) return false;
  } else if (isDenied(view, inputs.nodes.get(names))) return false;
  if (isLost) return true;
  const sinceMs = contradictsSince(view, claim, inputs.intervalMs);
  return sinceMs !== null && !isPending(view, { claim, sinceMs }, inputs);
}

/**
 * When the contradiction by a view began, in ms of rolecall's clock: when the first of the successive views that name
 * the same was requested, of those after the claim appeared. If they name nobody, it is the first at least one interval
 * after that one. `null` if there is no such view.
 */
function contradictsSince({ names, repeatedAtMs }: LeaderView, claim: LockClaim, intervalMs: number): number | null {
  const [first, ...later] = repeatedAtMs.filter((atMs) => atMs > claim.appearedAtMs);
  if (first === undefined || names !== null) return first ?? null;
  return later.find((atMs) => first <= atMs - intervalMs) ?? null;
}

/** Whether the named node denies it: probed after the view, at the address in it, it reported that it holds no lock. */
function isDenied(view: LeaderView, named: NodeAnswers | undefined): boolean {
  return named !== undefined && isSameServer(view, named) && !named.hasLock && named.reportedAtMs > view.answeredAtMs;
}

/** Whether we probe the node at the address in the view: another server may answer elsewhere under its name. */
function isSameServer({ namesAt }: LeaderView, { api }: NodeAnswers): boolean {
  return namesAt === null || api === null || namesAt === api;
}

/**
 * Whether an answer is still awaited: that of the named node, probed after the view; or the claimant's own `/cluster`,
 * requested since the contradiction began. A newer view that names the same does not prolong the second wait: otherwise
 * a slow `/cluster` would always be older than the newest view, and the contradiction would never take effect.
 */
function isPending(view: LeaderView, { claim, sinceMs }: Contradiction, { nodes, views }: LeadershipInputs): boolean {
  const { names, answeredAtMs } = view;
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
  return !views.some((own) => own.witness === claim.node && own.requestedAtMs >= sinceMs);
}

/** The contradicted claim, and when the contradiction began, in ms of rolecall's clock. */
interface Contradiction {
  readonly claim: LockClaim;
  readonly sinceMs: number;
}

/**
 * Whether a lost claim that no view contradicts any more is restored: a newer view must name the claimant, or every
 * witness against it must have given a newer view. Silence and age alone do not restore it.
 */
function isRestored({ node }: LockClaim, loss: ClaimLoss, views: readonly LeaderView[]): boolean {
  const newer = views.filter(({ requestedAtMs }) => requestedAtMs > loss.viewSentAtMs);
  const hasNewerView = (name: string): boolean => newer.some(({ witness }) => witness === name);
  return newer.some(({ names }) => names === node) || loss.witnesses.every(hasNewerView);
}
