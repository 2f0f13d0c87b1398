/** What a node's API, balancers, agents and `GET /pools` say of a member is one thing at one sequence number. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { viewAt } from "../../../src/core/health/evidence/leadership/cluster-view.ts";
import { poolDocument, poolKey } from "../../../src/core/pools/pool-document.ts";
import { formattedPools } from "../../../src/core/pools/pool-formats.ts";
import { poolMembers } from "../../../src/core/pools/pool-members.ts";
import { agentAdviceFor } from "../../../src/features/agent/agent-advice.ts";
import { poolVerdicts } from "../../../src/core/balancing/pool-verdicts.ts";
import { observeAll, policyOf, sentAt, unprobedCluster } from "../health/arbitraries.ts";
import { nodeApiAnswer, poolScenario } from "./pool-scenario.ts";

interface HttpSdGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

test("every projection of a pool says of each node what its own check is answered", () => {
  fc.assert(
    fc.property(poolScenario, ({ outcomes, guards, check, laterMs }) => {
      const policy = policyOf(guards);
      const cluster = observeAll(unprobedCluster(), outcomes, policy);
      const nowMs = Math.max(0, ...outcomes.map(sentAt)) + laterMs;
      const view = viewAt(cluster, policy, nowMs);
      const { members, validUntilMs } = poolMembers(view, check);
      const pushed = poolVerdicts(view, { check, servers: null, weight: null });
      const pool = { name: "p", cluster: cluster.name, check, checkText: "/p" };
      const { document } = poolDocument(view, pool);
      assert.deepEqual(pushed.validUntilMs, validUntilMs);
      assert.equal(document.fit, members.filter(({ verdict }) => verdict.fit).length);
      assert.deepEqual(
        document.members.map(({ node }) => node).toSorted(),
        cluster.nodes.map(({ node: { name } }) => name).toSorted(),
      );
      const groups = formattedPools([document], "http_sd") as readonly HttpSdGroup[];
      for (const { labels } of groups) {
        const member = document.members.find(({ node }) => node === labels["__meta_rolecall_node"]);
        assert.deepEqual(
          [labels["__meta_rolecall_fit"], labels["__meta_rolecall_reason"]],
          [String(member?.fit), member?.reason ?? ""],
        );
      }
      for (const { observation, verdict } of members) {
        const { name } = observation.node;
        const reply = nodeApiAnswer({ cluster, policy, nowMs }, name, check);
        const said = document.members.find(({ node }) => node === name);
        const server = pushed.servers.find((one) => one.server === name);
        assert.deepEqual(
          [verdict.fit, said?.fit, server?.target === "up", agentAdviceFor(verdict, check) === "use"],
          Array.from({ length: 4 }, () => reply.status === 200),
          `${name}: ${reply.status} ${reply.phrase}`,
        );
        if (!verdict.fit) assert.ok(reply.headers.includes(verdict.reason));
        assert.equal(said?.reason ?? null, verdict.fit ? null : verdict.reason);
      }
    }),
  );
});

test("the order of use begins with the fit nodes, and among equals with the least lag", () => {
  fc.assert(
    fc.property(poolScenario, ({ outcomes, guards, check, laterMs }) => {
      const policy = policyOf(guards);
      const cluster = observeAll(unprobedCluster(), outcomes, policy);
      const view = viewAt(cluster, policy, Math.max(0, ...outcomes.map(sentAt)) + laterMs);
      const { members } = poolMembers(view, check);
      const { document } = poolDocument(view, { name: "p", cluster: cluster.name, check, checkText: "/p" });
      const names = members.map(({ observation: { node } }) => node.name);
      assert.deepEqual(new Set(document.members.map(({ node }) => node)), new Set(names));
      assert.equal(document.members.length, members.length);
      const ranks = document.members.map(({ fit, no }) => (fit ? 0 : no === "soft" ? 1 : 2));
      assert.deepEqual(
        ranks,
        ranks.toSorted((one, other) => one - other),
      );
      for (const [at, { lag_bytes: lag }] of document.members.entries()) {
        const before = document.members[at - 1];
        if (before !== undefined && ranks[at] === ranks[at - 1])
          assert.ok((before.lag_bytes ?? Infinity) <= (lag ?? Infinity));
      }
    }),
  );
});

test("the key of a pool changes with what balancers need, and not with figures or order", () => {
  const member = {
    host: "10.0.0.1",
    port: 5432,
    zone: null,
    fit: true,
    known: true,
    degraded: false,
    reason: null,
    no: null,
    figure: null,
  };
  const [one, other] = [
    { ...member, node: "pg1", lag_bytes: 0, lag_ms: 0 },
    { ...member, node: "pg2", lag_bytes: 5, lag_ms: null },
  ];
  const document = { pool: "p", cluster: "demo", check: "/replica", fit: 2, members: [one, other] };
  const key = poolKey(document);
  assert.equal(
    poolKey({
      ...document,
      members: [
        { ...other, lag_bytes: 7 },
        { ...one, lag_ms: 3 },
      ],
    }),
    key,
  );
  for (const changed of [
    { port: 1 },
    { host: null },
    { zone: "a" },
    { fit: false },
    { degraded: true },
    { node: "pg3" },
  ])
    assert.notEqual(poolKey({ ...document, members: [{ ...one, ...changed }, other] }), key, JSON.stringify(changed));
  assert.notEqual(poolKey({ ...document, members: [one] }), key);
});

test("other programs read pools in their own form", () => {
  const member = {
    zone: "a",
    fit: true,
    known: true,
    degraded: false,
    reason: null,
    no: null,
    figure: null,
    lag_bytes: 0,
    lag_ms: 0,
  } as const;
  const reads = {
    pool: "reads",
    cluster: "demo",
    check: "/replica",
    fit: 2,
    members: [
      { ...member, node: "pg3", host: "fe80::3", port: 5433 },
      { ...member, node: "pg2", host: "10.0.0.2", port: 5432, zone: null },
      { ...member, node: "pg4", host: null, port: null },
      { ...member, node: "pg1", host: "10.0.0.1", port: 5432, fit: false, reason: "wrong_role", no: "soft" },
    ],
  } as const;
  const empty = { ...reads, pool: "none", members: [] };
  assert.deepEqual(formattedPools([reads, empty], "traefik"), {
    tcp: {
      services: {
        reads: { loadBalancer: { servers: [{ address: "10.0.0.2:5432" }, { address: "[fe80::3]:5433" }] } },
        none: { loadBalancer: { servers: [] } },
      },
    },
  });
  const groups = formattedPools([reads, empty], "http_sd") as readonly HttpSdGroup[];
  assert.deepEqual(
    groups.map(({ targets, labels }) => [...targets, ...Object.values(labels)]),
    [
      ["[fe80::3]:5433", "reads", "demo", "pg3", "true", "", "a"],
      ["10.0.0.2:5432", "reads", "demo", "pg2", "true", "", ""],
      ["10.0.0.1:5432", "reads", "demo", "pg1", "false", "wrong_role", "a"],
    ],
  );
});
