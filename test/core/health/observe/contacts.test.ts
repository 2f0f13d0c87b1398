/** What is recorded of servers at addresses that no proved node has (rule 10). Addresses are hosts, as `a`. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { noContact, type Contact } from "../../../../src/core/cluster/contact.ts";
import type { FailureKind, Observation } from "../../../../src/core/cluster/observation.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import { parseClusterDocument } from "../../../../src/core/cluster/documents/cluster-document.ts";
import type { Drain } from "../../../../src/core/cluster/drain.ts";
import {
  applyContact,
  withContactView,
  withoutDistrustedLists,
  withSettledAddresses,
  type ContactOutcome,
} from "../../../../src/core/health/observe/take-addresses.ts";
import {
  clusterOf,
  describeAddresses,
  lists,
  nodeAs,
  nowMs,
  other,
  says,
  statedBy,
  urlOf,
  type Given,
} from "./unsettled-cluster.ts";

type Result = ContactOutcome["result"];

function answer(name: string | null, system?: string): Result {
  return { report: statedBy(name, system), hasLock: false };
}

function failing(kind: FailureKind): Result {
  return { failure: { kind, detail: "" } };
}

function outcomeAt(host: string, result: Result, sentAtMs = nowMs): ContactOutcome {
  return { api: urlOf(host), result, sentAtMs, sentAtWallMs: 0 };
}

/** The state after an outcome at an address. */
function record(
  given: Given,
  outcome: ContactOutcome,
): { readonly before: ClusterState; readonly after: ClusterState } {
  const { cluster, context } = clusterOf(given);
  return { before: cluster, after: applyContact(cluster, outcome, context) };
}

suite("what is known of a server after", () => {
  const failedTwice = says("pg2", null, { failuresInRow: 2, failure: { kind: "timeout", detail: "" }, namedInRow: 0 });
  type Counts = readonly [
    wasAsked: boolean,
    name: string | null | undefined,
    namedInRow: number,
    failuresInRow: number,
  ];
  const table: readonly (readonly [given: string, before: Contact, result: Result, counts: Counts])[] = [
    ["its first answer", noContact, answer("pg2"), [true, "pg2", 1, 0]],
    ["a second one under its name", says("pg2"), answer("pg2"), [true, "pg2", 2, 0]],
    ["a third one", says("pg2", null, { namedInRow: 2 }), answer("pg2"), [true, "pg2", 3, 0]],
    ["one under another name", says("pg2", null, { namedInRow: 2 }), answer("pg3"), [true, "pg3", 1, 0]],
    ["one without a name", says("pg2", null, { namedInRow: 2 }), answer(null), [true, null, 1, 0]],
    ["a second one without a name", says(null), answer(null), [true, null, 1, 0]],
    ["one after failures", failedTwice, answer("pg2"), [true, "pg2", 1, 0]],
    ["its first failure", noContact, failing("timeout"), [true, undefined, 0, 1]],
    ["a failure after answers", says("pg2", null, { namedInRow: 2 }), failing("timeout"), [true, "pg2", 0, 1]],
    ["a third failure", failedTwice, failing("refused"), [true, "pg2", 0, 3]],
    ["a probe that was never sent", noContact, failing("not_sent"), [true, undefined, 0, 0]],
    ["one that was late here", says("pg2", null, { namedInRow: 2 }), failing("late_here"), [true, "pg2", 2, 0]],
  ];
  for (const [given, before, result, counts] of table)
    test(given, () => {
      const { after } = record({ at: { s: before } }, outcomeAt("s", result));
      const found = after.contacts.get(urlOf("s"));
      assert.deepEqual([found?.wasAsked, found?.answer?.report.name, found?.namedInRow, found?.failuresInRow], counts);
      assert.equal(
        found?.failure?.kind ?? null,
        "failure" in result && found?.failuresInRow !== 0 ? result.failure.kind : null,
      );
    });

  test("an answer that is older than the last one: nothing new, but one as old is recorded", () => {
    for (const [sentAtMs, isNew] of [
      [nowMs - 1, false],
      [nowMs, true],
      [nowMs + 1, true],
    ] as const) {
      const { before, after } = record({ at: { s: says("pg2") } }, outcomeAt("s", answer("pg3"), sentAtMs));
      assert.equal(after !== before, isNew, `${sentAtMs}`);
      assert.equal(after.contacts.get(urlOf("s"))?.answer?.report.name, isNew ? "pg3" : "pg2");
    }
  });

  test("its answer: its list stays", () => {
    const view = lists({ pg1: "a" });
    const { after } = record({ at: { s: says("s", view) } }, outcomeAt("s", answer("s")));
    assert.equal(after.contacts.get(urlOf("s"))?.view, view);
  });
});

suite("whose address is whose is decided anew when a server", () => {
  // Whether it is shows by a dispute that is over.
  const addressDisputes = new Map([["pg9", [urlOf("x")]]]);
  const failed = (failuresInRow: number) => says("s", null, { failuresInRow });
  const table: readonly (readonly [given: string, before: Contact, result: Result, isNew: boolean])[] = [
    ["is asked for the first time, and not reached", noContact, failing("not_sent"), true],
    ["answers for the first time", noContact, answer("s"), true],
    ["answers as before", says("s", null, { namedInRow: 5 }), answer("s"), false],
    ["answers under another name", says("s"), answer("pg2"), true],
    ["answers with another system", says("s"), answer("s", other), true],
    ["answers under its name once less than is enough", says("s", null, { namedInRow: 1 }), answer("s"), false],
    ["answers under its name often enough", says("s", null, { namedInRow: 2 }), answer("s"), true],
    ["answers under its name once more than that", says("s", null, { namedInRow: 3 }), answer("s"), false],
    ["fails less often than makes it silent", failed(1), failing("timeout"), false],
    ["fails as often as makes it silent", failed(2), failing("timeout"), true],
    ["fails once more", failed(3), failing("timeout"), false],
    ["answers after it was silent", failed(3), answer("s"), true],
    ["answers before it was silent", failed(2), answer("s"), false],
    [
      "fails less often than makes it silent, after it answered often",
      says("s", null, { namedInRow: 3 }),
      failing("timeout"),
      false,
    ],
  ];
  for (const [given, before, result, isNew] of table)
    test(`${given}: ${isNew ? "yes" : "no"}`, () => {
      const { after } = record({ at: { s: before }, state: { addressDisputes } }, outcomeAt("s", result));
      assert.deepEqual([...after.addressDisputes.keys()], isNew ? [] : ["pg9"]);
    });

  test("answers for another scope: yes", () => {
    const report = { ...statedBy("s"), scope: "other" };
    const { after } = record(
      { at: { s: says("s") }, state: { addressDisputes } },
      outcomeAt("s", { report, hasLock: false }),
    );
    assert.deepEqual([...after.addressDisputes.keys()], []);
  });
});

suite("a node shows what speaks against an address that a list gives it:", () => {
  type Shown = readonly [name: string | null, failuresInRow: number, failure: FailureKind | null];
  const nobody: Shown = [null, 0, null];
  const table: readonly (readonly [given: string, node: string, result: Result, shown: Shown])[] = [
    ["it fails", "pg2 b none", failing("timeout"), [null, 1, "timeout"]],
    ["another server answers there", "pg2 b none", answer("pg3"), ["pg3", 0, null]],
    ["nothing, if its own does: that is evidence once the address is its own", "pg2 b none", answer("pg2"), nobody],
    ["nothing, if no name is stated", "pg2 b none", answer(null), nobody],
    ["nothing, if the probe was never sent", "pg2 b none", failing("not_sent"), nobody],
    ["nothing, if it is another address", "pg2 c none", failing("timeout"), nobody],
    ["nothing, if its address is its own", "pg2 b settled", failing("timeout"), nobody],
  ];
  for (const [given, text, result, shown] of table)
    test(given, () => {
      // Not every configured address was asked, so that nothing proves itself yet.
      const { after } = record({ nodes: [nodeAs(text)], state: { hasAskedAll: false } }, outcomeAt("b", result));
      const [known] = after.nodes;
      assert.deepEqual([known?.report?.name ?? null, known?.failuresInRow, known?.failure?.kind ?? null], shown);
      assert.equal(known?.sentAtMs, shown[0] === null ? -Infinity : nowMs);
    });

  test("a server of another scope answers there", () => {
    const report = { ...statedBy("pg2"), scope: "other" };
    const { after } = record({ nodes: [nodeAs("pg2 b")] }, outcomeAt("b", { report, hasLock: true }));
    assert.deepEqual([after.nodes[0]?.report?.scope, after.nodes[0]?.hasLock], ["other", false]);
  });

  test("a failure ends with an answer under the node's name", () => {
    const failed: Observation = nodeAs("pg2 b", { failuresInRow: 1, failure: { kind: "timeout", detail: "" } });
    const { after } = record({ nodes: [failed] }, outcomeAt("b", answer("pg2")));
    assert.equal(after.nodes[0]?.failuresInRow, 0);
  });
});

suite("of two lists of one server", () => {
  const document = parseClusterDocument({
    scope: "demo",
    members: [{ name: "pg1", api_url: "http://a:8008/patroni" }],
  })!;
  for (const [given, sentAtMs, isNew] of [
    ["the one that was asked for later counts", 6, true],
    ["the last one counts that was asked for at the same instant", 5, true],
    ["the one that was asked for earlier does not", 4, false],
  ] as const)
    test(given, () => {
      const { cluster } = clusterOf({ at: { s: { ...noContact, view: { ...lists({}), sentAtMs: 5 } } } });
      const after = withContactView(cluster, document, { api: urlOf("s"), sentAtMs, nowMs });
      assert.equal(after !== cluster, isNew);
      assert.equal(after.contacts.get(urlOf("s"))?.view?.sentAtMs, isNew ? sentAtMs : 5);
    });
});

suite("the list of a server that is a distrusted node", () => {
  const drain: Drain = { reason: "", by: null, extent: "distrust", untilMs: nowMs + 1, since: "", until: "" };
  const view = lists({ pg1: "a" });
  const at = { s: says("pg2", view), t: says("pg3", view) };

  test("is forgotten, and that of another one is not", () => {
    const { cluster, context } = clusterOf({ at, state: { drains: new Map([["pg2", drain]]) } });
    const after = withoutDistrustedLists(cluster, context);
    assert.deepEqual(
      ["s", "t"].map((host) => after.contacts.get(urlOf(host))?.view ?? null),
      [null, view],
    );
  });

  test("stays while none is distrusted, and so does the state", () => {
    const { cluster, context } = clusterOf({ at });
    assert.equal(withoutDistrustedLists(cluster, context), cluster);
  });
});

suite("all configured addresses were asked", () => {
  const asked = { ...noContact, wasAsked: true };
  const table: readonly (readonly [given: string, input: Given, is: boolean])[] = [
    ["each was", { discover: ["s", "t"], at: { s: asked, t: asked } }, true],
    ["one was not", { discover: ["s", "t"], at: { s: asked, t: noContact } }, false],
    ["one has no contact yet", { discover: ["s", "t"], at: { s: asked } }, false],
    ["there is none", { discover: [] }, true],
    ["one is a node's that has answered", { nodes: [nodeAs("pg1 s settled", { report: statedBy("pg1") })] }, true],
    ["one is a node's that has failed", { nodes: [nodeAs("pg1 s settled", { failedAtMs: 0 })] }, true],
    ["one is a node's that was not asked", { nodes: [nodeAs("pg1 s settled")] }, false],
    [
      "a node at another address has answered",
      { nodes: [nodeAs("pg1 x settled", { report: statedBy("pg1") })] },
      false,
    ],
    [
      "of two nodes the one at that address has answered",
      { nodes: [nodeAs("pg2 x settled"), nodeAs("pg1 s settled", { report: statedBy("pg1") })] },
      true,
    ],
  ];
  for (const [given, input, is] of table)
    test(`${given}: ${is}`, () => {
      const { cluster, context } = clusterOf({ ...input, state: { hasAskedAll: false } });
      assert.equal(withSettledAddresses(cluster, context).hasAskedAll, is);
    });

  test("and then are not asked again: the members that their lists have are added once", () => {
    for (const [hasAskedAll, count] of [
      [false, 1],
      [true, 0],
    ] as const) {
      const { cluster, context } = clusterOf({ at: { s: says("s", lists({ pg1: "a" })) }, state: { hasAskedAll } });
      assert.equal(withSettledAddresses(cluster, context).nodes.length, count);
    }
  });

  test("a cluster without discovery stays as it is", () => {
    const { cluster, context } = clusterOf({ at: { s: asked }, state: { hasAskedAll: false } });
    const fixed = { ...context, policy: { ...context.policy, discovers: false } };
    assert.equal(withSettledAddresses(cluster, fixed), cluster);
  });
});

suite("the scope of a cluster without one is, once all addresses were asked,", () => {
  const scoped = (scope: string | null): Contact => {
    const contact = says("pg1", lists({ [`of-${scope}`]: "a" }));
    return { ...contact, answer: { ...contact.answer!, report: { ...statedBy("pg1"), scope } } };
  };
  const table: readonly (readonly [
    given: string,
    scopes: readonly (string | null)[],
    known: string | null,
    scope: string | null,
  ])[] = [
    ["the only one that is stated", ["one"], null, "one"],
    ["the one that most state", ["one", "other", "other"], null, "other"],
    ["the first one that is stated, of two that one states each", ["one", "other"], null, "one"],
    ["the one that is stated, if others state none", [null, "one"], null, "one"],
    ["unknown, if none is stated", [null], null, null],
    ["the one that is known already", ["one", "one"], "other", "other"],
  ];
  for (const [given, scopes, known, scope] of table)
    test(given, () => {
      const discover = scopes.map((_, at) => `s${at}`);
      const at = Object.fromEntries(scopes.map((each, index) => [`s${index}`, scoped(each)]));
      const { cluster, context } = clusterOf({ discover, at, state: { scope: known, hasAskedAll: false } });
      const after = withSettledAddresses(cluster, context);
      assert.equal(after.scope, scope);
      const names = new Set(after.nodes.map(({ node }) => node.name));
      for (const each of scopes)
        assert.equal(names.has(`of-${each}`), each === null || scope === each, `members that ${each} lists`);
    });

  test("that of a server that gave a list, but has not answered, is no matter: its members count", () => {
    const { cluster, context } = clusterOf({
      at: { s: { ...noContact, wasAsked: true, view: lists({ pg1: "a" }) } },
      state: { hasAskedAll: false },
    });
    assert.deepEqual(describeAddresses(withSettledAddresses(cluster, context)), ["pg1 a none"]);
  });
});
