/** Which address becomes a member's, by what the servers that were probed say (rule 10). The member is pg2. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { neverProbed, type Observation } from "../../../../../src/core/cluster/observation.ts";
import type { WitnessView } from "../../../../../src/core/cluster/snapshot.ts";
import { discovered } from "../../../../../src/core/health/observe/membership.ts";
import { chooseAddress, electorateOf } from "../../../../../src/core/health/evidence/node/address-choice.ts";
import type { Server } from "../../../../../src/core/health/evidence/node/servers.ts";
import { addressChoiceRows, type Says } from "./address-choice-rows.ts";
import { addressVoteRows } from "./address-vote-rows.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { listingView, memberAt } from "../../../../fake/listing-view.ts";

function serverOf(
  api: string,
  { is, puts, partial = false, configured = false, fails = false, ofOtherSystem = false }: Says,
): Server {
  const isConfigured = configured;
  const base = {
    api,
    name: is,
    answers: !fails,
    isConfigured,
    isOfOtherSystem: ofOtherSystem,
    stated: null,
    namedInRow: 0,
  };
  return { ...base, list: puts === undefined ? null : { ...listWith(puts), isPartial: partial } };
}

function listWith(puts: string): WitnessView {
  const view = listingView(puts === "none" || puts === "unusable" ? {} : { pg2: puts });
  return { ...view, unaddressed: new Set(puts === "unusable" ? ["pg2"] : []) };
}

suite("the address of a member", () => {
  for (const { given, servers, present, own, settled = false, disputed = [], fixed = [] } of [
    ...addressChoiceRows,
    ...addressVoteRows,
  ])
    test(given, () => {
      const all = Object.entries(servers).map(([api, says]) => serverOf(api, says));
      const proved = new Set([
        ...Object.entries(servers).flatMap(([api, says]) => (says.proved === true ? [api] : [])),
        ...(present === undefined ? [] : [present.at]),
      ]);
      const configured = all.filter(({ isConfigured }) => isConfigured).map(({ api }) => api);
      const policy = { ...new ClusterFixture({ nodes: [] }).policy, discovers: true, configured };
      const known: Observation | undefined =
        present === undefined
          ? undefined
          : { ...neverProbed(discovered(memberAt("pg2", present.at))), proof: present.proof };
      const electorate = electorateOf(all, proved, policy);
      const choice = chooseAddress("pg2", known, { electorate, forbidden: new Set(fixed) });
      const expected = own === null || own === "none" ? own : { api: own, isSettled: settled };
      assert.deepEqual(choice, { own: expected, disputed });
    });
});

/**
 * The address that each configured server's list has for pg9, and which servers vote. pg9 has proved itself. A list that
 * begins with `?` may lack members; `null`: it gives none.
 */
const voterRows: readonly (readonly [given: string, lists: readonly (string | null)[], voters: string])[] = [
  ["most lists have a proved node at its address", ["p", "p", "y"], "s0 s1 s2 p"],
  ["half of the lists do", ["p", "y"], "s0 s1"],
  ["one of three does", ["p", "y", "y"], "s0 s1 s2"],
  ["the only list does, while others give none", ["p", null, null], "s0 s1 s2 p"],
  ["nobody gives a list", [null], "s0 p"],
  ["a list that may lack members has it", ["?p"], "s0 p"],
  ["half of the lists do, one of which may lack members", ["p", "?y"], "s0 s1"],
  ["one list does, and one that may lack members lacks it", ["p", "?"], "s0 s1 p"],
  ["one list does, and a whole one lacks it", ["p", ""], "s0 s1"],
];

suite("the voters", () => {
  const policy = { ...new ClusterFixture({ nodes: [] }).policy, discovers: true, configured: [] };
  const listOf = (given: string): WitnessView => {
    const isPartial = given.startsWith("?");
    const api = given.slice(isPartial ? 1 : 0);
    return { ...listingView(api === "" ? {} : { pg9: api }), isPartial };
  };
  const proved = serverOf("p", { is: "pg9", proved: true, puts: "b" });
  for (const [given, lists, voters] of voterRows)
    test(given, () => {
      const seeds = lists.map((api, at): Server => {
        const server = serverOf(`s${at}`, { is: `pg${at}`, configured: true });
        return api === null ? server : { ...server, list: listOf(api) };
      });
      const electorate = electorateOf([...seeds, proved], new Set(["p"]), policy);
      assert.equal(electorate.voters.map(({ api }) => api).join(" "), voters);
    });

  test("that fell silent are those that voted: their last lists may count, but none of a server that answers", () => {
    const says = (api: string, more: Omit<Says, "is">): Server => serverOf(api, { is: `pg-${api}`, ...more });
    const servers = [
      says("seed", { configured: true, puts: "b", fails: true }),
      says("seed-without-list", { configured: true, fails: true }),
      says("proved", { puts: "b", fails: true }),
      says("proved-without-list", { fails: true }),
      says("unproved", { puts: "b", fails: true }),
      says("answering-seed", { configured: true, puts: "b" }),
      says("answering-proved", { puts: "b" }),
    ];
    const addresses = new Set(["proved", "proved-without-list", "answering-proved"]);
    const { silentVoters } = electorateOf(servers, addresses, policy);
    assert.equal(silentVoters.map(({ api }) => api).join(" "), "seed proved");
  });

  test("a node that gives no list, and a server that has not proved itself, do not vote", () => {
    const silent = serverOf("p", { is: "pg9" });
    assert.deepEqual(electorateOf([silent], new Set(["p"]), policy).voters, []);
    assert.deepEqual(electorateOf([proved], new Set(), policy).voters, []);
  });
});
