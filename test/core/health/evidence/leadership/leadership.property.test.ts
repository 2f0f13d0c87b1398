import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { ClaimLoss } from "../../../../../src/core/cluster/leadership.ts";
import {
  resolveLeadership,
  type ResolvedLeadership,
} from "../../../../../src/core/health/evidence/leadership/leadership.ts";
import { leadershipDocument } from "./leadership-document.ts";
import {
  appearedAtMs,
  doesClaim,
  inputsOf,
  isFirstOfItsKind,
  kindsOf,
  nameOf,
  nodeStates,
  permutations,
  renamed,
  requestedAtMs,
  rows,
  settled,
  truths,
  type Row,
} from "./leadership-rows.ts";

const ambiguous = "test/spec/ambiguous-leadership.txt";

/**
 * Every combination for two and three nodes, with the orders of events. Of combinations that differ in names only, the
 * first.
 */
function* everyRow(): Generator<Row> {
  for (const count of [2, 3]) {
    const states = nodeStates(count, false);
    const kinds = kindsOf(states);
    for (const row of rows(count, states)) if (isFirstOfItsKind(row, kinds)) yield row;
  }
}

/** The same without orders of events: the reports of the nodes do not change. */
function* everySettledRow(): Generator<Row> {
  for (const count of [2, 3]) yield* rows(count, nodeStates(count, true));
}

function holderOf({ decision }: ResolvedLeadership): number | null {
  return decision.kind === "held" ? Number(decision.holder.slice(2)) - 1 : null;
}

/**
 * Whether the claimant's own view, requested after the claim appeared, contradicts the claim. It names another node
 * that does not deny it, or nobody twice.
 */
function isDisownedByItself(row: Row, at: number): boolean {
  const own = row.nodes[at];
  if (own === undefined || own.isFailsafe || own.view === "none" || requestedAtMs(own) <= appearedAtMs(own))
    return false;
  if (own.view === "twice") return !row.isPaused;
  if (own.view === null || own.view === at) return false;
  // "follows" denies the claim. A node that "followed" is probed again at this moment: the decision waits for its
  // answer.
  const named = row.nodes[own.view];
  return named?.status === "silent" || (named !== undefined && doesClaim(named));
}

/** Whether the claimant's own view and every other one name it, all requested after every claim appeared. */
function isConfirmedByAll(row: Row, at: number): boolean {
  const newestMs = Math.max(...row.nodes.filter(doesClaim).map(appearedAtMs));
  const isForIt = row.nodes.every(
    (node) => node.view === "none" || (node.view === at && requestedAtMs(node) > newestMs),
  );
  return isForIt && row.nodes[at]?.view === at;
}

/** All claims lost to views requested at the same time as the row's own. */
function allLost(row: Row): ReadonlyMap<string, ClaimLoss> {
  return new Map(
    row.nodes.flatMap((node, at) =>
      doesClaim(node) ? [[nameOf(at), { viewSentAtMs: 30, witnesses: [nameOf(at)] }]] : [],
    ),
  );
}

/** Returns the error of the decision on one row, else `null`. */
function problemOf(row: Row, index: number): string | null {
  const resolved = resolveLeadership(inputsOf(row));
  const holder = holderOf(resolved);
  const claimants = [...row.nodes.keys()].filter((at) => doesClaim(row.nodes[at] ?? row.nodes[0]!));
  if (holder !== null && !claimants.includes(holder)) return "the holder claims nothing";
  if (holder !== null && resolved.lostClaims.has(nameOf(holder))) return "the holder's claim is lost";
  if (holder !== null && isDisownedByItself(row, holder)) return "a yes for a claimant that its own view disowns";
  for (const at of claimants)
    if (isConfirmedByAll(row, at) && holder !== at) return `a no for ${nameOf(at)}, which every view confirms`;
  const orders = permutations[row.nodes.length] ?? [];
  const to = orders[index % orders.length] ?? [];
  const other = holderOf(resolveLeadership(inputsOf(renamed(row, to))));
  if (other !== (holder === null ? null : to[holder])) return `another decision under the renaming ${to.join()}`;
  const inputs = inputsOf(row);
  const nodes = new Map([...inputs.nodes].toReversed());
  const reversed = resolveLeadership({
    ...inputs,
    claims: inputs.claims.toReversed(),
    views: inputs.views.toReversed(),
    nodes,
  });
  return holderOf(reversed) === holder ? null : "another decision for another order of the nodes";
}

describe("who leads, for every combination of two and three nodes", () => {
  test("is at most one node, never one that its own view disowns, always one that all views confirm, whatever the names and order", () => {
    let count = 0;
    for (const row of everyRow()) {
      const problem = problemOf(row, (count += 1));
      assert.equal(problem, null, JSON.stringify(row));
    }
    assert.ok(count > 300_000, `only ${count} rows`);
  });

  test("returns to a true claimant that confirms itself, whatever was lost before, while at most one node is at fault", () => {
    let count = 0;
    for (const row of everySettledRow()) {
      const right = theRightOne(row);
      if (right === null) continue;
      count += 1;
      for (const lost of [new Map<string, ClaimLoss>(), allLost(row)]) {
        const holder = holderOf(settled(row, lost));
        assert.equal(holder, right, `${JSON.stringify(row)}, ${lost.size} lost before`);
      }
    }
    assert.ok(count > 1_000, `only ${count} rows`);
  });

  test("does not depend on earlier losses once views were renewed, unless no view names the claimant", () => {
    for (const row of everySettledRow()) {
      const holder = holderOf(settled(row));
      if (holder === null || row.nodes.every(({ view }) => view !== holder)) continue;
      assert.equal(holderOf(settled(row, allLost(row))), holder, JSON.stringify(row));
    }
  });

  test("the file of ambiguous rows has every one with its decision (UPDATE_DOCS=1 writes it)", () => {
    const wanted = leadershipDocument(everySettledRow());
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(ambiguous, wanted);
    assert.equal(readFileSync(ambiguous, "utf8"), wanted);
  });
});

/**
 * The node that leads by the only most likely truth, if it claims the lock, its view names it, and at most one node is
 * faulty.
 */
function theRightOne(row: Row): number | null {
  const { leaders, faults } = truths(row);
  const [leader, ...others] = leaders;
  if (leader === undefined || leader === null || others.length > 0 || faults > 1) return null;
  // In failsafe mode no view is evidence: it may date from the time before.
  if (row.nodes.some(({ isFailsafe }) => isFailsafe)) return null;
  const node = row.nodes[leader];
  return node !== undefined && doesClaim(node) && node.view === leader ? leader : null;
}
