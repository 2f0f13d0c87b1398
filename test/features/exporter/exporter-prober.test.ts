import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { NodeReply } from "../../../src/core/probe/client/client.ts";
import { ExporterProber } from "../../../src/features/exporter/exporter-prober.ts";
import { failedReply, FakeTransport, runPendingTasks } from "../../fake/fake-transport.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

const origin = "http://pg1:9630";
const htmlPage = "<html><head><title>Exporter</title></head></html>";

function textReply(body: string, status = 200): NodeReply {
  return { status, body: Buffer.from(body) };
}

/** A prober of pg1's exporter: pg_exporter on a primary whose clock advances. The test changes what it answers. */
function exporterOf(context: TestContext, given: Given = {}) {
  const node = { name: "pg1", api: given.api ?? null, exporter: origin };
  const answers: { up: Answer; page: Answer } = {
    up: () => textReply("primary"),
    page: () => textReply(`pg_up 1\npg_timestamp ${1_700_000_000 + scripted.nowMs}\npg_in_recovery 0\n`),
  };
  const scripted = new FakeTransport(context, new ClusterFixture({ nodes: [node] }), (_, path) =>
    path === "/up" ? answers.up() : answers.page(),
  );
  const [known] = scripted.fixture.cluster.nodes;
  assert.ok(known !== undefined);
  const prober = new ExporterProber(known.node, origin, { ...scripted.context(given), ...given.parts });
  return { scripted, prober, answers };
}

type Answer = () => NodeReply | Promise<NodeReply>;

interface Given {
  readonly api?: string;
  readonly intervalMs?: number;
  readonly metricsIntervalMs?: number;
  readonly parts?: Partial<ConstructorParameters<typeof ExporterProber>[2]>;
}

/** Returns an answer that waits for the test. */
function held(): { answer: Answer; release: (reply: NodeReply) => void } {
  const { promise, resolve } = withResolvers<NodeReply>();
  return { answer: () => promise, release: resolve };
}

function withResolvers<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((given) => (resolve = given));
  return { promise, resolve };
}

test("probes the role each interval, and the page as often until it proves the database alive", async (context) => {
  const { scripted, prober } = exporterOf(context);
  prober.probe();
  await scripted.advance(7_500);
  assert.deepEqual(scripted.sentAt("/up"), [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000]);
  assert.deepEqual(scripted.sentAt("/metrics"), [0, 1_000, 4_000, 7_000]);
  assert.equal(scripted.fixture.judge("pg1", "primary", scripted.nowMs), "fit");
  prober.stop();
});

test("fetches no page more often than the role", async (context) => {
  const { scripted, prober } = exporterOf(context, { intervalMs: 2_000, metricsIntervalMs: 500 });
  prober.probe();
  await scripted.advance(7_500);
  assert.deepEqual(scripted.sentAt("/metrics"), [0, 2_000, 4_000, 6_000]);
  prober.stop();
});

test("a page that stays the same, or cannot be sent for, is requested each interval", async (context) => {
  const { scripted, prober, answers } = exporterOf(context);
  answers.page = () => failedReply("not_sent");
  prober.probe();
  await scripted.advance(1_500);
  assert.equal(scripted.recorded.filter(({ kind }) => kind === "exporter").length, 2, "the answers of /up");
  answers.page = () => textReply("pg_up 1\npg_timestamp 1700000000\npg_in_recovery 0\n");
  await scripted.advance(4_000);
  assert.deepEqual(scripted.sentAt("/metrics"), [0, 1_000, 2_000, 3_000, 4_000, 5_000]);
  assert.deepEqual(
    scripted.results.filter(({ endpoint }) => endpoint === "metrics").map(({ outcome }) => outcome),
    ["not_sent", "not_sent", "answered", "answered", "answered", "answered"],
  );
  prober.stop();
});

test("asks an exporter without /up for it once a minute, and for its page each interval", async (context) => {
  const { scripted, prober, answers } = exporterOf(context);
  answers.up = () => textReply(htmlPage);
  prober.probe();
  await scripted.advance(59_950);
  assert.deepEqual(scripted.sentAt("/up"), [0]);
  await scripted.advance(100, 1);
  assert.deepEqual(scripted.sentAt("/up"), [0, 60_000]);
  assert.equal(scripted.sentAt("/metrics").length, 61, "the only evidence about the node");
  answers.up = () => textReply("primary");
  await scripted.advance(62_000);
  assert.deepEqual(scripted.sentAt("/up").slice(2), [120_000, 121_000, 122_000], "it was replaced");
  prober.stop();
});

test("asks again after exactly a minute, whatever the intervals", async (context) => {
  const { scripted, prober, answers } = exporterOf(context, { intervalMs: 1 });
  answers.up = () => textReply(htmlPage);
  const requests: number[] = [];
  await prober.inFlight;
  for (const atMs of [0, 59_999, 60_000]) {
    scripted.nowMs = atMs;
    prober.probeIfIdle();
    await prober.inFlight;
    requests.push(scripted.sentAt("/up").length);
  }
  assert.deepEqual(requests, [1, 1, 2]);
  prober.stop();
});

test("beside a node API, the page of an exporter without /up is fetched at its own interval", async (context) => {
  const { scripted, prober, answers } = exporterOf(context, { api: "http://pg1:8008" });
  answers.up = () => textReply(htmlPage);
  prober.probe();
  await scripted.advance(7_500);
  assert.deepEqual(scripted.sentAt("/metrics"), [0, 1_000, 4_000, 7_000]);
  prober.stop();
});

test("a failure other than an answer without a role does not mean that there is no /up", async (context) => {
  const { scripted, prober, answers } = exporterOf(context);
  answers.up = () => failedReply("timeout");
  prober.probe();
  await scripted.advance(500);
  answers.up = () => textReply("primary", 500);
  await scripted.advance(2_000);
  assert.deepEqual(scripted.sentAt("/up"), [0, 1_000, 2_000]);
  prober.stop();
});

test("an exporter that has told its role has /up, whatever it answers later", async (context) => {
  const { scripted, prober, answers } = exporterOf(context);
  prober.probe();
  await scripted.advance(500);
  answers.up = () => textReply(htmlPage);
  await scripted.advance(3_000);
  assert.deepEqual(scripted.sentAt("/up"), [0, 1_000, 2_000, 3_000]);
  prober.stop();
});

test("a change of role requests the page at once; the first role and the same role do not", async (context) => {
  const { scripted, prober, answers } = exporterOf(context);
  const first = held();
  answers.up = first.answer;
  prober.probe();
  await scripted.advance(200);
  first.release(textReply("replica"));
  await scripted.advance(200);
  assert.deepEqual(scripted.sentAt("/metrics"), [0]);
  await scripted.advance(2_000);
  assert.deepEqual(scripted.sentAt("/metrics"), [0, 1_000]);
  answers.up = () => textReply("primary");
  await scripted.advance(1_000);
  assert.deepEqual(scripted.sentAt("/metrics"), [0, 1_000, 3_000], "not before 4 s by its interval");
  prober.stop();
});

test("probeIfIdle probes the role alone, and only if no such probe is in flight", async (context) => {
  const { scripted, prober, answers } = exporterOf(context);
  const first = held();
  answers.up = first.answer;
  assert.equal(prober.probeIfIdle(), true);
  assert.equal(prober.probeIfIdle(), false);
  await runPendingTasks();
  assert.deepEqual(scripted.sent, [{ atMs: 0, url: `${origin}/up` }]);
  first.release(textReply("primary"));
  await prober.inFlight;
  assert.equal(prober.probeIfIdle(), true);
  assert.deepEqual(scripted.sentAt("/up"), [0, 0]);
  prober.stop();
});

test("counts each request with its duration, and records when it was sent", async (context) => {
  const { scripted, prober, answers } = exporterOf(context);
  const page = held();
  answers.page = page.answer;
  answers.up = () => failedReply("refused");
  scripted.nowMs = 500;
  prober.probe();
  await runPendingTasks();
  scripted.nowMs = 620;
  page.release(textReply("pg_up 1\n"));
  await prober.inFlight;
  assert.deepEqual(
    scripted.results.map(({ node, endpoint, outcome, durationMs }) => [node, endpoint, outcome, durationMs].join(" ")),
    ["pg1 up refused 0", "pg1 metrics answered 120"],
  );
  assert.deepEqual(
    scripted.recorded.map((outcome) => (outcome.kind === "exporter" ? outcome.sentAtMs : outcome)),
    [500, 500],
  );
  prober.stop();
});

test("after stop nothing is sent, counted, recorded or read from the store", async (context) => {
  let isStopped = false;
  const fixture = new ClusterFixture();
  const state = (): ClusterFixture["cluster"] => {
    assert.ok(!isStopped, "the store may have forgotten the cluster");
    return fixture.cluster;
  };
  const { scripted, prober, answers } = exporterOf(context, { parts: { state } });
  const [up, page] = [held(), held()];
  answers.up = up.answer;
  answers.page = page.answer;
  prober.probe();
  prober.stop();
  isStopped = true;
  up.release(textReply("primary"));
  page.release(textReply("pg_up 1\n"));
  await prober.inFlight;
  await scripted.advance(5_000);
  assert.deepEqual([scripted.recorded, scripted.results], [[], []]);
  assert.equal(scripted.sent.length, 2);
  assert.deepEqual(scripted.closed, [origin, origin]);
});

test("opens new connections to apply new TLS material", async (context) => {
  const { scripted, prober } = exporterOf(context);
  prober.reconnect();
  assert.deepEqual(scripted.closed, [origin, origin]);
  prober.probe();
  await prober.inFlight;
  assert.deepEqual(
    scripted.results.map(({ endpoint, outcome }) => `${endpoint} ${outcome}`),
    ["up answered", "metrics answered"],
  );
  prober.stop();
});
