import assert from "node:assert/strict";
import { test } from "node:test";
import { viewAt } from "../../../../../src/core/health/evidence/leadership/cluster-view.ts";
import { unansweredText } from "../../../../../src/core/health/evidence/node/unanswered-addresses.ts";
import { situationOf } from "../../../../../src/core/health/documents/situation.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";

const seeds = [1, 2, 3, 4, 5].map((number) => `https://10.0.0.${number}:8008`);

/** A cluster without nodes, whose addresses failed so in turn; `null`: answered. */
function failing(...kinds: readonly (Parameters<ClusterFixture["fail"]>[1] | null)[]): ClusterFixture {
  const configured = seeds.slice(0, kinds.length);
  const fixture = new ClusterFixture({ nodes: [], cluster: { discover: configured }, policy: { configured } });
  for (const [at, kind] of kinds.entries()) {
    const seed = configured[at] ?? "";
    if (kind === null) fixture.answer(seed, { fields: { patroni: { name: "", scope: "demo", version: "4.0.4" } } }, at);
    else fixture.fail(seed, kind, at);
  }
  return fixture;
}

for (const [kinds, text] of [
  [[], null],
  [[null], null],
  // This machine's own failures say nothing about an address.
  [["late_here", "not_sent"], null],
  [["tls"], "10.0.0.1:8008 does not answer: an injected tls"],
  [["tls", null, "tls"], "10.0.0.1:8008, 10.0.0.3:8008 do not answer: an injected tls"],
  [["tls", "tls", "tls"], "10.0.0.1:8008, 10.0.0.2:8008, 10.0.0.3:8008 do not answer: an injected tls"],
  [["refused", "tls", "tls"], "10.0.0.2:8008, 10.0.0.3:8008 do not answer: an injected tls; 1 fails otherwise"],
  [
    ["tls", "tls", "tls", "tls", "timeout"],
    "10.0.0.1:8008, 10.0.0.2:8008, 10.0.0.3:8008 and 1 more do not answer: an injected tls; 1 fails otherwise",
  ],
] as const)
  test(`why no node is known: ${kinds.join(", ") || "no failure"}`, () => {
    const fixture = failing(...kinds);
    assert.equal(unansweredText(fixture.cluster), text);
    const { condition, cause } = situationOf(viewAt(fixture.cluster, fixture.policy, 1_000), {
      nodes: [],
      asked: [],
      wallMs: 0,
    });
    assert.equal(condition, "without nodes");
    assert.equal(cause, text ?? "no configured address has answered with the members of the cluster");
  });

test("an address that answers again fails no more", () => {
  const fixture = failing("tls", "tls");
  fixture.answer("https://10.0.0.1:8008", { fields: { patroni: { name: "", scope: "demo", version: "4.0.4" } } }, 100);
  assert.equal(unansweredText(fixture.cluster), "10.0.0.2:8008 does not answer: an injected tls");
});
