import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { exporterProbes } from "../../../src/features/exporter/exporter-prober.ts";
import type { BroughtToCluster, ProbeBringer } from "../../../src/core/probe/client/probe-context.ts";
import { NodeProbers } from "../../../src/core/probe/node-probers.ts";
import { clusterOf } from "../../fake/config.ts";
import { FakeTransport, failedReply, neverReplies } from "../../fake/fake-transport.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const api = "http://pg1:8008";
const exporter = "http://pg1:9630";

function probersOf(context: TestContext, addresses: Addresses) {
  context.mock.timers.reset();
  const scripted = new FakeTransport(context, new ClusterFixture({ nodes: [{ name: "pg1", ...addresses }] }), () =>
    failedReply("refused"),
  );
  const [known] = scripted.fixture.cluster.nodes;
  assert.ok(known !== undefined);
  return {
    scripted,
    node: known.node,
    probers: new NodeProbers(known.node, { ...scripted.context(), brought: broughtOf([exporterProbes]) }),
  };
}

function broughtOf(bringers: readonly ProbeBringer[]): BroughtToCluster {
  return { bringers: () => bringers, config: clusterOf({}), limits: { connectTimeoutMs: 1, timeoutMs: 1 } };
}

interface Addresses {
  readonly api: string | null;
  readonly exporter: string | null;
}

test("probes what the node has: its API, its exporter, both or neither", async (context) => {
  const rows: readonly (readonly [Addresses, readonly string[]])[] = [
    [{ api, exporter: null }, [`${api}/leader`]],
    [{ api: null, exporter }, [`${exporter}/up`, `${exporter}/metrics`]],
    [{ api, exporter }, [`${api}/leader`, `${exporter}/up`, `${exporter}/metrics`]],
    [{ api: null, exporter: null }, []],
  ];
  for (const [addresses, urls] of rows) {
    const { scripted, probers } = probersOf(context, addresses);
    probers.probe();
    await probers.inFlight;
    assert.deepEqual(
      scripted.sent.map(({ url }) => url),
      urls,
    );
    probers.stop();
  }
});

test("probes for the role through the API, or through the exporter of a node without an API", async (context) => {
  const rows: readonly (readonly [Addresses, string | null])[] = [
    [{ api, exporter }, `${api}/leader`],
    [{ api, exporter: null }, `${api}/leader`],
    [{ api: null, exporter }, `${exporter}/up`],
    [{ api: null, exporter: null }, null],
  ];
  for (const [addresses, url] of rows) {
    const { scripted, probers } = probersOf(context, addresses);
    scripted.respond = neverReplies;
    assert.equal(probers.probeIfIdle(), url !== null);
    assert.equal(probers.probeIfIdle(), false, "a probe is in flight, or there is none to send");
    assert.deepEqual(
      scripted.sent.map((request) => request.url),
      url === null ? [] : [url],
    );
    probers.stop();
  }
});

test("the probers of a node are right until one of its addresses changes", (context) => {
  const { node, probers } = probersOf(context, { api, exporter });
  assert.equal(probers.matches({ ...node }), true);
  assert.equal(probers.matches({ ...node, api: "http://elsewhere:8008" }), false);
  assert.equal(probers.matches({ ...node, exporter: "http://elsewhere:9630" }), false);
  assert.equal(probers.matches({ ...node, api: null, exporter: null }), false);
  assert.equal(probers.matches(undefined), false);
  probers.stop();
});

test("reconnect and stop close all connections of the node", (context) => {
  const { scripted, probers } = probersOf(context, { api, exporter });
  probers.reconnect();
  assert.deepEqual(scripted.closed.toSorted(), [api, api, exporter, exporter]);
  probers.stop();
  assert.deepEqual(scripted.closed.toSorted(), [api, api, api, api, exporter, exporter, exporter, exporter]);
});
