import type { ClaimLoss } from "../../../../../src/core/cluster/leadership.ts";
import type {
  LeaderView,
  LockClaim,
  NodeAnswers,
} from "../../../../../src/core/health/evidence/leadership/leadership-inputs.ts";

/** Evidence about the claim of pg1, which appeared at 10. */
export interface Given {
  readonly claim?: Partial<LockClaim>;
  readonly views: readonly LeaderView[];
  /** The answers of pg1, which claims the lock. */
  readonly own?: Partial<NodeAnswers>;
  /** The answers of pg3, which the views name. */
  readonly named?: Partial<NodeAnswers>;
  /** How the claim was lost before. */
  readonly before?: ClaimLoss;
}

/** A row of the table: the evidence, and how the claim is lost; `null` if it is not. */
type Row = Given & { readonly title: string; readonly loss: ClaimLoss | null };

/**
 * A view that was answered at once.
 * @param requestedAtMs when it and the views before it that name the same were requested, this one last
 */
export function view(witness: string, names: string | null, ...requestedAtMs: readonly number[]): LeaderView {
  const at = requestedAtMs.at(-1) ?? Number.NaN;
  return { witness, names, namesAt: null, requestedAtMs: at, answeredAtMs: at, repeatedAtMs: requestedAtMs };
}

/** The views of two witnesses that name nobody. */
function nobody(...requestedAtMs: readonly number[]): readonly LeaderView[] {
  return ["pg2", "pg4"].map((witness) => view(witness, null, ...requestedAtMs));
}

/** Two witnesses name pg3. */
export const against = [view("pg2", "pg3", 30), view("pg4", "pg3", 40)];
/** The loss that they cause. */
export const lost: ClaimLoss = { viewSentAtMs: 40, witnesses: ["pg2", "pg4"] };
/** A loss that views older than all others here caused. */
const old: ClaimLoss = { viewSentAtMs: 20, witnesses: ["pg5"] };

export const rows: readonly Row[] = [
  { title: "two witnesses, the newer of which any view that restores it has to follow", views: against, loss: lost },
  { title: "one witness alone does not suffice", views: [view("pg2", "pg3", 30)], loss: null },
  {
    title: "one witness suffices against a claimant without an API, which has no view",
    claim: { hasApi: false },
    views: [view("pg2", "pg3", 30)],
    loss: { viewSentAtMs: 30, witnesses: ["pg2"] },
  },
  {
    title: "views that name nobody say nothing of a claimant without an API",
    claim: { hasApi: false },
    views: nobody(20, 30),
    loss: null,
  },
  {
    title: "one witness and the claimant's own later view, which does not name it",
    views: [view("pg2", "pg3", 30), view("pg1", null, 30)],
    loss: { viewSentAtMs: 30, witnesses: ["pg1", "pg2"] },
  },
  {
    title: "not if that own view was requested before the accusation",
    views: [view("pg2", "pg3", 30), view("pg1", null, 29)],
    loss: null,
  },
  {
    title: "a view that was requested when the claim appeared does not accuse it",
    views: [view("pg2", "pg3", 10), view("pg4", "pg3", 11)],
    loss: null,
  },
  {
    title: "nor one that is lost already",
    before: old,
    views: [view("pg2", "pg3", 10), view("pg4", "pg3", 10)],
    loss: old,
  },
  {
    title: "nobody named twice accuses if both views were requested after the claim appeared",
    views: nobody(11, 30),
    loss: { viewSentAtMs: 30, witnesses: ["pg2", "pg4"] },
  },
  {
    title: "not if the first of them was requested when the claim appeared",
    views: nobody(10, 30),
    loss: null,
  },
  {
    title: "the two views may be one interval apart",
    views: nobody(20, 30),
    loss: { viewSentAtMs: 30, witnesses: ["pg2", "pg4"] },
  },
  {
    title: "not less",
    views: nobody(21, 30),
    loss: null,
  },
  {
    title: "an accusation waits for the answer of the node that it names",
    named: { isSilent: false },
    views: against,
    loss: null,
  },
  {
    title: "not if the claim is lost already",
    named: { isSilent: false },
    before: old,
    views: against,
    loss: lost,
  },
  {
    title: "it is void once that node, asked after it, denies the lock",
    named: { isSilent: false, reportedAtMs: 41 },
    views: against,
    loss: null,
  },
  {
    title: "it is not void if that node, asked after it, holds the lock",
    named: { isSilent: false, hasLock: true, reportedAtMs: 41 },
    views: against,
    loss: lost,
  },
  {
    title: "it is not void for a probe that was sent at the instant of the view",
    named: { isSilent: false, reportedAtMs: 40 },
    before: old,
    views: [view("pg2", "pg3", 40), view("pg4", "pg3", 40)],
    loss: lost,
  },
  {
    title: "it is not void if that node answers at another address than the view's",
    named: { isSilent: false, reportedAtMs: 41, api: "http://pg3:8008" },
    views: against.map((one) => ({ ...one, namesAt: "http://elsewhere:8008" })),
    loss: lost,
  },
  {
    title: "a view without an address means the node that is probed",
    named: { isSilent: false, reportedAtMs: 41, api: "http://pg3:8008" },
    views: against,
    loss: null,
  },
  {
    title: "it is void if that node answers at the view's address",
    named: { isSilent: false, reportedAtMs: 41, api: "http://pg3:8008" },
    views: against.map((one) => ({ ...one, namesAt: "http://pg3:8008" })),
    loss: null,
  },
  {
    title: "it does not wait for a node that answers at another address than the view's",
    named: { isSilent: false, api: "http://pg3:8008" },
    views: against.map((one) => ({ ...one, namesAt: "http://elsewhere:8008" })),
    loss: lost,
  },
  {
    title: "it waits for that node's answer to a probe later than the view",
    named: { isSilent: false, reportedAtMs: 40 },
    views: [view("pg2", "pg3", 40), view("pg4", "pg3", 40)],
    loss: null,
  },
  {
    title: "it waits for a view of the claimant, which answers",
    own: { isViewFailing: false },
    views: against,
    loss: null,
  },
  {
    title: "that view has to be requested no earlier",
    own: { isViewFailing: false },
    views: [...against, view("pg1", "pg1", 39)],
    loss: null,
  },
  {
    title: "newer views that repeat the accusation do not renew that wait",
    own: { isViewFailing: false },
    views: [view("pg2", "pg3", 30, 50), view("pg4", "pg3", 40, 60), view("pg1", "pg1", 40)],
    loss: { viewSentAtMs: 60, witnesses: ["pg2", "pg4"] },
  },
  {
    title: "that view has to be requested no earlier than the first of them",
    own: { isViewFailing: false },
    views: [view("pg2", "pg3", 30, 50), view("pg4", "pg3", 40, 60), view("pg1", "pg1", 39)],
    loss: null,
  },
  {
    title: "views of before the claim do not count as the first of them",
    own: { isViewFailing: false },
    views: [view("pg2", "pg3", 10, 50), view("pg4", "pg3", 5, 60), view("pg1", "pg1", 59)],
    loss: null,
  },
  {
    title: "if they name nobody, the first of them is the one that confirms an earlier one",
    own: { isViewFailing: false },
    views: [view("pg2", null, 20, 29, 30, 50), view("pg4", null, 20, 30, 50), view("pg1", "pg1", 30)],
    loss: { viewSentAtMs: 50, witnesses: ["pg2", "pg4"] },
  },
  {
    title: "not an unconfirmed one",
    own: { isViewFailing: false },
    views: [view("pg2", null, 20, 29, 30, 50), view("pg4", null, 20, 30, 50), view("pg1", "pg1", 29)],
    loss: null,
  },
  {
    title: "of the accusation of one witness, the own view must not be older than its newest view",
    views: [view("pg2", "pg3", 30, 50), view("pg1", null, 49)],
    loss: null,
  },
  {
    title: "that view may confirm the claim, which two witnesses deny",
    own: { isViewFailing: false },
    views: [...against, view("pg1", "pg1", 40)],
    loss: lost,
  },
  {
    title: "it does not wait for a claimant that is silent",
    own: { isViewFailing: false, isSilent: true },
    views: against,
    loss: lost,
  },
  {
    title: "nor for one without an API",
    claim: { hasApi: false },
    own: { isViewFailing: false },
    views: against,
    loss: lost,
  },
  {
    title: "another witness of the same instant is added",
    before: { viewSentAtMs: 40, witnesses: ["pg4"] },
    views: against,
    loss: lost,
  },
];
