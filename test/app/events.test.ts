import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pino } from "pino";
import { unrestrictedAccess } from "../../src/core/config/model/listener-access-config.ts";
import type { Logger } from "../../src/core/log/logger.ts";
import { startSimulator } from "../../src/tools/simulator/simulator.ts";
import { selfSignedCertificate } from "../fake/certificates.ts";
import { clusterOf, configOf, listenerOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { sendRequest } from "../fake/http-request.ts";
import { until } from "../fake/until.ts";
import { appOf, fixedCluster, limit, portFor, withQuickProbes } from "./app-fixture.ts";

const admin = listenerOf({ dialect: "admin" });

interface EventsPage {
  readonly events: readonly { readonly kind: string; readonly node: string | null; readonly message: string }[];
  readonly oldest: string | null;
}

/** A log that keeps its lines. */
function keptLog(): { readonly log: Logger; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: "info", base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

/** The events of the clusters, without those of rolecall itself. */
async function eventsOf(port: number, query = ""): Promise<EventsPage> {
  const { body } = await sendRequest(`http://127.0.0.1:${port}/events${query}`);
  const page = JSON.parse(body) as EventsPage;
  return { ...page, events: page.events.filter(({ kind }) => kind !== "started") };
}

function sequenceOf({ events }: EventsPage): readonly string[] {
  return events.map(({ kind, node }) => `${kind} ${node}`);
}

test("a killed leader and the promotion: events, log and metrics say the same in order", limit, async (context) => {
  const simulator = await startSimulator({ nodes: 3, port: 0, ttlMs: 3_000, loopWaitMs: 500, retryTimeoutMs: 500 });
  context.after(() => simulator.stop());
  const { log, lines } = keptLog();
  const clusters = [clusterOf({ discover: simulator.nodes.map(({ url }) => url) })];
  const app = appOf(context, withQuickProbes(configOf({ clusters, listen: [admin] })), { log });
  await app.start();
  const port = portFor(app, admin);
  await until("a primary", async () => /has_primary\{cluster="demo"\} 1/.test(await metricsOf(port)));
  assert.deepEqual((await eventsOf(port)).events, []);
  await fetch(`${simulator.nodes[1]?.url}/sim/pg1/kill`, { method: "POST" });
  const found = await until("a new primary", async () => {
    const page = await eventsOf(port);
    return page.events.some(({ kind }) => kind === "primary_found") && page;
  });
  assert.deepEqual(sequenceOf(found).slice(0, 2), ["node_down pg1", "primary_lost pg1"]);
  const [, lost, last] = found.events;
  assert.equal(lost?.message, "demo has no primary: pg1 is down (connection refused)");
  assert.match(last?.message ?? "", /^pg[23] is the new primary of demo after \d+\.\d s without one \(was pg1\)$/);
  const [first, ...logged] = lines.filter(({ event }) => event !== undefined);
  assert.deepEqual([first?.["level"], first?.["event"], first?.["cluster"]], [30, "started", undefined]);
  assert.deepEqual(
    logged.slice(0, 3).map(({ level, event, node, msg }) => [level, event, node, msg]),
    found.events.map(({ kind, node, message }) => [
      { node_down: 40, primary_lost: 50 }[kind] ?? 30,
      kind,
      node,
      message,
    ]),
  );
  const facts = lines.filter(({ node, msg }) => node === "pg1" && msg === "verdict changed");
  assert.deepEqual(facts, [], "an event has no second line");
  assert.match(await metricsOf(port), /^rolecall_events_total\{cluster="demo",kind="primary_lost"\} 1$/m);
  assert.match(await metricsOf(port), /^rolecall_cluster_timeline\{cluster="demo"\} 2$/m);
});

test("a timeline that goes back is an error", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  for (const node of nodes) node.fields = { timeline: 4 };
  const { log, lines } = keptLog();
  const app = appOf(context, withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [admin] })), { log });
  await app.start();
  const port = portFor(app, admin);
  await until("timeline 4", async () => /timeline\{cluster="demo"\} 4/.test(await metricsOf(port)));
  for (const node of nodes) {
    node.leader = "pg2";
    node.fields = { timeline: 3 };
  }
  await until("the event", async () => (await eventsOf(port, "?kind=timeline_back")).events.length === 1);
  const line = lines.find(({ event }) => event === "timeline_back");
  assert.deepEqual(
    [line?.["level"], line?.["msg"], line?.["timeline_before"], line?.["timeline"]],
    [50, "timeline of demo went back from 4 to 3: writes may be lost", 4, 3],
  );
  assert.match(await metricsOf(port), /^rolecall_cluster_timeline\{cluster="demo"\} 3$/m);
});

test("a cluster whose addresses never answered is blind, which is one event", limit, async (context) => {
  const [node] = await openFakeCluster(context, ["pg1"]);
  assert.ok(node !== undefined);
  const gone = clusterOf({ name: "gone", discover: ["http://127.0.0.1:1"] });
  const clusters = [fixedCluster([node]), gone];
  const app = appOf(context, withQuickProbes(configOf({ clusters, listen: [admin] })));
  await app.start();
  const port = portFor(app, admin);
  const { events } = await until("the event", async () => {
    const page = await eventsOf(port, "?cluster=gone");
    return page.events.length > 0 && page;
  });
  assert.deepEqual(
    events.map(({ kind, message }) => [kind, message]),
    [["blind", "rolecall knows no node of gone: no address in discover has answered with its members"]],
  );
});

test("a drain is one event, with one audit line", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const { log, lines } = keptLog();
  const app = appOf(context, withQuickProbes(configOf({ clusters: [fixedCluster(nodes)], listen: [admin] })), { log });
  await app.start();
  const port = portFor(app, admin);
  const url = `http://127.0.0.1:${port}/drains/demo/pg2`;
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ for: "30min", reason: "kernel upgrade", by: "operator" });
  await fetch(url, { method: "POST", headers, body });
  assert.match(await metricsOf(port), /^rolecall_drains\{cluster="demo"\} 1$/m);
  await fetch(url, { method: "DELETE", headers, body: JSON.stringify({ by: "night shift" }) });
  assert.match(await metricsOf(port), /^rolecall_drains\{cluster="demo"\} 0$/m);
  const { events } = await eventsOf(port);
  assert.deepEqual(sequenceOf({ events, oldest: null }), ["drained pg2", "undrained pg2"]);
  assert.match(events[0]?.message ?? "", /^pg2 of demo is drained until 20.*Z: kernel upgrade$/);
  assert.equal(events[1]?.message, "pg2 of demo is no longer drained: ended by night shift");
  assert.deepEqual(
    lines.filter(({ audit }) => audit === true).map(({ event, by, ended_by: endedBy }) => [event, by, endedBy]),
    [
      ["drained", "operator", undefined],
      ["undrained", "operator", "night shift"],
    ],
  );
});

test("shows when the certificates of listeners and of connections to the nodes expire", limit, async (context) => {
  const { certFile, keyFile } = selfSignedCertificate(context);
  const tls = { cert: certFile, key: keyFile, ca: null, minVersion: "TLSv1.2", client: "off" } as const;
  const secure = listenerOf({ address: "127.0.0.2", access: { ...unrestrictedAccess, tls } });
  const nodes = await openFakeCluster(context, ["pg1"]);
  const files = { ca: null, cert: certFile, key: keyFile, serverName: null, verify: "full" as const };
  const clusters = [
    fixedCluster(nodes, { tls: files }),
    clusterOf({ name: "gone", tls: { ...files, cert: join(certFile, "missing.pem") } }),
  ];
  const app = appOf(context, withQuickProbes(configOf({ clusters, listen: [admin, secure] })));
  await app.start();
  const lines = (await metricsOf(portFor(app, admin))).split("\n");
  const found = lines.filter((line) => line.startsWith("rolecall_certificate_expiry_timestamp_seconds{"));
  assert.equal(found.length, 2, "a file that cannot be read has no sample");
  const [listener = "", client = ""] = found;
  assert.ok(listener.includes(`{usage="listener",listener="127.0.0.2:0",file="${certFile}"}`), listener);
  assert.ok(client.includes(`{usage="client",cluster="demo",file="${certFile}"}`), client);
  assert.ok(Number(listener.split(" ").at(-1)) > Date.now() / 1000);
});

async function metricsOf(port: number): Promise<string> {
  return (await sendRequest(`http://127.0.0.1:${port}/metrics`)).body;
}
