import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ClaimLoss } from "../../../src/cluster/leadership.ts";
import {
  resolveLeadership,
  type LeaderView,
  type LeadershipInputs,
  type LockClaim,
  type NodeAnswers,
} from "../../../src/health/evidence/leadership.ts";

const claim: LockClaim = {
  node: "pg1",
  appearedAtMs: 10,
  timeline: 1,
  isPaused: false,
  isFailsafe: false,
  hasApi: true,
};

function view(witness: string, names: string | null, at: number, more: Partial<LeaderView> = {}): LeaderView {
  return { witness, names, namesAt: null, requestedAtMs: at, answeredAtMs: at, nobodySinceMs: null, ...more };
}

function node(answers: Partial<NodeAnswers>): NodeAnswers {
  const follows = { reportedAtMs: 5, hasLock: false, isSilent: false, isViewFailing: false, canTestify: true };
  return { ...follows, api: null, ...answers };
}

interface Given {
  readonly claim?: Partial<LockClaim>;
  readonly views: readonly LeaderView[];
  /** The answers of pg1, which claims the lock. */
  readonly own?: Partial<NodeAnswers>;
  /** The answers of pg3, which the views name. */
  readonly named?: Partial<NodeAnswers>;
  /** How the claim was lost before. */
  readonly before?: ClaimLoss;
}

function inputs({ claim: more = {}, views, own = {}, named = {}, before }: Given): LeadershipInputs {
  return {
    claims: [{ ...claim, ...more }],
    views,
    nodes: new Map([
      ["pg1", node({ hasLock: true, isViewFailing: true, ...own })],
      ["pg2", node({})],
      ["pg3", node({ isSilent: true, ...named })],
      ["pg4", node({})],
    ]),
    lostClaims: new Map(before === undefined ? [] : [["pg1", before]]),
    withdrawals: new Map(),
    lastHolder: null,
    incumbent: null,
  };
}

/** How pg1's claim is lost; `null` if it is not. */
function lossOf(given: Given): ClaimLoss | null {
  return resolveLeadership(inputs(given)).lostClaims.get("pg1") ?? null;
}

const against = [view("pg2", "pg3", 30), view("pg4", "pg3", 40)];
const lost: ClaimLoss = { viewSentAtMs: 40, witnesses: ["pg2", "pg4"] };
/** A loss that views older than all others here caused. */
const old: ClaimLoss = { viewSentAtMs: 20, witnesses: ["pg5"] };

const rows: readonly (Given & { readonly title: string; readonly loss: ClaimLoss | null })[] = [
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
    views: [view("pg2", null, 30, { nobodySinceMs: 20 }), view("pg4", null, 30, { nobodySinceMs: 20 })],
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
    title: "nobody named twice accuses if both views were requested after the claim appeared",
    views: [view("pg2", null, 30, { nobodySinceMs: 11 }), view("pg4", null, 30, { nobodySinceMs: 11 })],
    loss: { viewSentAtMs: 30, witnesses: ["pg2", "pg4"] },
  },
  {
    title: "not if the first of them was requested when the claim appeared",
    views: [view("pg2", null, 30, { nobodySinceMs: 10 }), view("pg4", null, 30, { nobodySinceMs: 10 })],
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

suite("a claim is lost to", () => {
  for (const { title, loss, ...given } of rows) test(title, () => assert.deepEqual(lossOf(given), loss));
});

test("a loss that does not change stays the same object", () => {
  assert.equal(lossOf({ views: against, before: lost }), lost);
});

test("a lost claim stays lost while its node is silent, until the node reports no lock", () => {
  const silent = (hasLock: boolean): boolean => {
    const given = { ...inputs({ views: [], own: { hasLock }, before: lost }), claims: [] };
    return resolveLeadership(given).lostClaims.has("pg1");
  };
  assert.deepEqual([silent(true), silent(false)], [true, false]);
});
