/** The audit of a whole process: what `GET /audit` of its listeners shows, and that it does nothing without a target. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { audit as auditFeature } from "../../../src/features/audit/feature.ts";
import type { AuditConfig } from "../../../src/features/audit/config/audit-schema.ts";
import { auditTargets } from "../../../src/core/feature/offers.ts";
import type { Road } from "../../../src/features/audit/core/road.ts";
import type { AuditedTarget, RouteFinding } from "../../../src/features/audit/core/route-finding.ts";
import type { BalancerConfig, ListenerConfig } from "../../../src/core/config/model/config.ts";
import { auditDocument, roadsDocument } from "../../../src/features/audit/audit-api.ts";
import { configOf, haproxyBackendOf, listenerOf } from "../../fake/config.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { type HttpAnswer, type RequestParts, sendRequest } from "../../fake/http-request.ts";
import { until } from "../../fake/until.ts";
import { appOf, fixedCluster, limit, portFor, withQuickProbes } from "../../app/app-fixture.ts";

/** A balancer with a backend for each of some clusters, at a socket that does not exist. */
function balancerOf(name: string, ...clusters: readonly string[]): BalancerConfig {
  const backends = clusters.map((cluster) => haproxyBackendOf({ name: `w_${cluster}`, cluster }));
  return { name, haproxy: { socket: { path: "/no/such/socket" }, zone: null, cutSessions: false, backends } };
}

/** A way of clients without servers. */
function roadIn(cluster: string): Road {
  const nothing = { closed: null, not_taken: null, leads_to: null, servers: [], left_out: 0 };
  return { backend: `w_${cluster}`, cluster, only_members: true, ...nothing };
}

const own = listenerOf({ dialect: "admin", cluster: "demo" });
const all = listenerOf({ dialect: "admin", address: "127.0.0.2" });

suite("GET /audit", limit, () => {
  test("shows each target, and to a listener with a cluster those of its cluster alone", async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const clusters = [fixedCluster(nodes), { ...fixedCluster(nodes), name: "other" }];
    const balancers = [balancerOf("lb1", "demo"), balancerOf("lb2", "other"), balancerOf("lb3", "demo", "other")];
    const audit = { intervalMs: 300, envoys: [] };
    const app = appOf(context, withQuickProbes(configOf({ clusters, listen: [own, all], balancers, audit })));
    await app.start();
    const send = (listener: ListenerConfig, query = "", parts: RequestParts = {}): Promise<HttpAnswer> =>
      sendRequest(`http://${listener.address}:${portFor(app, listener)}/audit${query}`, parts);
    const read = async (listener: ListenerConfig): Promise<ReturnType<typeof JSON.parse>> =>
      JSON.parse((await send(listener)).body);
    const document = await until("a look at each target", async () => {
      const found = await read(all);
      return found.targets.length === 3 && found.targets.every(({ up }: { up: unknown }) => up !== null) && found;
    });
    const { looked_ms_ago: age, took_ms: took, problem, ...target } = document.targets[0];
    assert.deepEqual(target, {
      target: "lb1",
      program: "haproxy",
      address: "/no/such/socket",
      clusters: ["demo"],
      up: false,
      servers: 0,
      unknown: [],
      without_fit_node: [],
      findings: 0,
      suspected: [],
    });
    assert.ok(age >= 0 && took >= 0);
    assert.match(problem, /ENOENT/);
    assert.deepEqual([document.interval_ms, document.findings], [300, []]);
    const shown = async (listener: ListenerConfig): Promise<unknown> =>
      (await read(listener)).targets.map((one: { target: string; clusters: string[] }) => [one.target, one.clusters]);
    assert.deepEqual(await shown(own), [
      ["lb1", ["demo"]],
      ["lb3", ["demo"]],
    ]);
    assert.deepEqual(await shown(all), [
      ["lb1", ["demo"]],
      ["lb2", ["other"]],
      ["lb3", ["demo", "other"]],
    ]);
    assert.equal((await send(own, "?cluster=other")).status, 400);
    assert.equal((await send(own, "", { method: "POST" })).status, 405);
  });

  test("has no target without one", async (context) => {
    const nodes = await openFakeCluster(context, ["pg1"]);
    const audit = { intervalMs: 300, envoys: [] };
    const app = appOf(context, withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [all], audit })));
    await app.start();
    const { status, body } = await sendRequest(`http://${all.address}:${portFor(app, all)}/audit`);
    assert.deepEqual([status, JSON.parse(body)], [200, { interval_ms: 0, targets: [], findings: [] }]);
  });

  test("shows findings with when they began, and to a listener with a cluster its own", () => {
    const words = { what: "w", mechanism: "m", command: "c", isUnusable: false };
    const whole: RouteFinding = {
      kind: "unreachable",
      target: "lb3",
      program: "haproxy",
      clusters: ["demo", "other"],
      backend: null,
      server: null,
      node: null,
      sinceMs: 500,
      ...words,
    };
    const ofOther: RouteFinding = {
      ...whole,
      kind: "misrouted",
      clusters: ["other"],
      backend: "w_other",
      server: "s1",
      node: "pg1",
    };
    const target: AuditedTarget = {
      target: "lb3",
      program: "haproxy",
      address: "/s",
      clusters: ["demo", "other"],
      up: false,
      lookedMsAgo: 10,
      tookMs: 2,
      problem: "no",
      servers: 4,
      unknown: ["other"],
      findings: [ofOther, whole],
      suspected: [],
      unled: [],
      roads: [roadIn("demo"), roadIn("other")],
    };
    const audited = { targets: [target], intervalMs: 5_000 };
    const clocks = { now: () => 2_000, wall: () => 61_500 };
    const { kind, sinceMs: _, isUnusable: unusable, ...shown } = whole;
    const finding = { finding: kind, unusable, ...shown, since: "1970-01-01T00:01:00.000Z", for_ms: 1_500 };
    const { findings: __, roads: ___, unled, lookedMsAgo, tookMs, ...rest } = target;
    assert.deepEqual(auditDocument(audited, "demo", clocks), {
      interval_ms: 5_000,
      targets: [
        {
          ...rest,
          clusters: ["demo"],
          unknown: [],
          without_fit_node: unled,
          looked_ms_ago: lookedMsAgo,
          took_ms: tookMs,
          findings: 1,
        },
      ],
      findings: [finding],
    });
    assert.match(JSON.stringify(auditDocument(audited, null, clocks)), /"misrouted".*"unreachable"/);
    const running = { ...audited, findings: () => [whole], poolOf: () => ({ pool: "w", check: "/primary" }) };
    const { cluster: ____, ...road } = roadIn("demo");
    assert.deepEqual(roadsDocument(running, "demo", clocks), {
      cluster: "demo",
      at: "1970-01-01T00:01:01.500Z",
      interval_ms: 5_000,
      targets: [
        {
          target: "lb3",
          program: "haproxy",
          address: "/s",
          up: false,
          problem: "no",
          looked_ms_ago: 10,
          is_compared: true,
          pools: [{ pool: "w", check: "/primary", cluster: "demo", ...road }],
        },
      ],
      findings: [finding],
    });
    const none = { cluster: "demo", at: "1970-01-01T00:01:01.500Z", interval_ms: 0, targets: [], findings: [] };
    assert.deepEqual(roadsDocument(null, "demo", clocks), none);
  });

  test("shows the ways of clients through each target that leads to a cluster, with their pools", async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const clusters = [fixedCluster(nodes), { ...fixedCluster(nodes), name: "other" }];
    const balancers = [balancerOf("lb1", "demo"), balancerOf("lb2", "other")];
    const audit = { intervalMs: 300, envoys: [] };
    const app = appOf(context, withQuickProbes(configOf({ clusters, listen: [all, own], balancers, audit })));
    await app.start();
    const send = (listener: ListenerConfig, path: string, parts: RequestParts = {}): Promise<HttpAnswer> =>
      sendRequest(`http://${listener.address}:${portFor(app, listener)}/clusters/${path}`, parts);
    const shown = JSON.parse((await send(all, "demo/audit")).body);
    assert.deepEqual([shown.cluster, shown.targets.map((one: { target: string }) => one.target)], ["demo", ["lb1"]]);
    assert.equal((await send(all, "nosuch/audit")).status, 404);
    assert.equal((await send(own, "other/audit")).status, 404);
    assert.equal((await send(all, "demo/audit?x=1")).status, 400);
    assert.equal((await send(all, "demo/audit", { method: "POST" })).status, 405);
  });
});

test("the audit is in use with a target and an interval, and not otherwise", () => {
  const looks = { intervalMs: 5_000, envoys: [] };
  const envoys = [{ name: "envoy1", admin: "http://127.0.0.1:9901", pools: null }];
  const isUsed = (audit: AuditConfig, isGiven: boolean): boolean =>
    auditFeature.isUsed(configOf({ clusters: [], audit }), (offer) => isGiven && offer === auditTargets);
  assert.equal(isUsed(looks, false), false);
  assert.equal(isUsed(looks, true), true);
  assert.equal(isUsed({ ...looks, envoys }, false), true);
  assert.equal(isUsed({ ...looks, intervalMs: 0, envoys }, true), false);
});
