import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ClaimLoss } from "../../../../../src/core/cluster/leadership.ts";
import { resolveLeadership } from "../../../../../src/core/health/evidence/leadership/leadership.ts";
import type {
  LeadershipInputs,
  LockClaim,
  NodeAnswers,
} from "../../../../../src/core/health/evidence/leadership/leadership-inputs.ts";
import { against, lost, rows, type Given } from "./lost-claims-rows.ts";

const claim: LockClaim = {
  node: "pg1",
  appearedAtMs: 10,
  timeline: 1,
  isPaused: false,
  isFailsafe: false,
  hasApi: true,
};

function node(answers: Partial<NodeAnswers>): NodeAnswers {
  const follows = { reportedAtMs: 5, hasLock: false, isSilent: false, isViewFailing: false, canTestify: true };
  return { ...follows, api: null, ...answers };
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
    refused: new Map(),
    lastHolder: null,
    incumbent: null,
    intervalMs: 10,
  };
}

/** How pg1's claim is lost; `null` if it is not. */
function lossOf(given: Given): ClaimLoss | null {
  return resolveLeadership(inputs(given)).lostClaims.get("pg1") ?? null;
}

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
