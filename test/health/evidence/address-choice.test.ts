/** Which address becomes a member's, by what the servers that were probed say (rule 10). The member is pg2. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { neverProbed, type Observation } from "../../../src/cluster/observation.ts";
import type { WitnessView } from "../../../src/cluster/snapshot.ts";
import type { Member } from "../../../src/cluster/documents/cluster-document.ts";
import { discovered } from "../../../src/health/observe/membership.ts";
import { chooseAddress, electorateOf } from "../../../src/health/evidence/address-choice.ts";
import type { Server } from "../../../src/health/evidence/servers.ts";
import { addressChoiceRows, type Says } from "./address-choice-rows.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

function serverOf(api: string, { is, puts, configured = false, fails = false, ofOtherSystem = false }: Says): Server {
  const isConfigured = configured;
  const base = { api, name: is, answers: !fails, isConfigured, isOfOtherSystem: ofOtherSystem };
  return { ...base, list: puts === undefined ? null : listWith(puts) };
}

function rowAt(api: string): Member {
  return { name: "pg2", api, host: null, port: null, behind: null, position: null };
}

function listWith(puts: string): WitnessView {
  const row = rowAt(puts);
  return {
    leader: null,
    names: null,
    timeline: null,
    sentAtMs: 0,
    received: null,
    isReceiving: false,
    answeredAtMs: 0,
    repeatedAtMs: [],
    namesAt: null,
    members: new Map(puts === "none" || puts === "unusable" ? [] : [["pg2", row]]),
    unaddressed: new Set(puts === "unusable" ? ["pg2"] : []),
    leftOut: [],
  };
}

suite("the address of a member", () => {
  for (const { given, servers, present, own, settled = false, disputed = [], fixed = [] } of addressChoiceRows)
    test(given, () => {
      const all = Object.entries(servers).map(([api, says]) => serverOf(api, says));
      const proved = new Set([
        ...Object.entries(servers).flatMap(([api, says]) => (says.proved === true ? [api] : [])),
        ...(present === undefined ? [] : [present.at]),
      ]);
      const configured = all.filter(({ isConfigured }) => isConfigured).map(({ api }) => api);
      const policy = { ...new ClusterFixture({ nodes: [] }).policy, discovers: true, configured };
      const known: Observation | undefined =
        present === undefined ? undefined : { ...neverProbed(discovered(rowAt(present.at))), proof: present.proof };
      const electorate = electorateOf(all, proved, policy);
      const choice = chooseAddress("pg2", known, { electorate, forbidden: new Set(fixed) });
      const expected = own === null || own === "none" ? own : { api: own, isSettled: settled };
      assert.deepEqual(choice, { own: expected, disputed });
    });
});
