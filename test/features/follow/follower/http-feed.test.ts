/** What a stream over HTTP makes of what an upstream sends: honest states of any size pass, and nothing else costs much. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { emptyCluster } from "../../../../src/core/cluster/empty-cluster.ts";
import { parseReport } from "../../../../src/core/cluster/documents/report.ts";
import { neverProbed } from "../../../../src/core/cluster/observation.ts";
import type { ClusterState } from "../../../../src/core/cluster/snapshot.ts";
import {
  clusterStateSchema,
  sentStateOf,
  stateForm,
} from "../../../../src/features/follow/feed/cluster-state-schema.ts";
import type { FeedMessage } from "../../../../src/features/follow/feed/feed-messages.ts";
import { writtenState } from "../../../../src/features/follow/feed/state-values.ts";
import { httpFeed } from "../../../../src/features/follow/follower/http-feed.ts";
import { nodesMax } from "../../../../src/core/health/evidence/node/listed-members.ts";
import { withNodes } from "../../../../src/core/health/observe/membership.ts";
import { listenDuringTest } from "../../../fake/listen.ts";

interface Taken {
  readonly messages: readonly { readonly message: FeedMessage; readonly isPart: boolean }[];
  readonly problem: string;
}

/** What comes of a text that an upstream sends. */
async function taken(context: TestContext, sent: string): Promise<Taken> {
  const server = createServer((_, response) => response.writeHead(200).end(gzipSync(sent, { level: 1 })));
  const url = `http://127.0.0.1:${await listenDuringTest(context, server)}`;
  const request = { protocol: 1, version: "1", name: "edge", token: 1, clusters: [], resume: null };
  const messages: { message: FeedMessage; isPart: boolean }[] = [];
  const problem = await new Promise<string>((resolve) => {
    httpFeed({ url, tls: null, tokenFile: null })(
      { ...request, isOwner: true, canMove: true },
      { onMessage: (message, isPart = false) => messages.push({ message, isPart }), onBytes: () => {}, onEnd: resolve },
    );
  });
  return { messages, problem };
}

/** As many nodes as a cluster may have, each of which lists all of them. */
function largestCluster(): ClusterState {
  const names = Array.from({ length: nodesMax }, (_, at) => `some-database-node-${at}`);
  const api = (name: string): string => `https://${name}.databases.example.com:8008`;
  const senders = names.map((name) => ({ application_name: name, client_addr: "10.100.100.100", state: "streaming" }));
  const nodes = names.map((name, at) => {
    const said = {
      state: "running",
      role: at === 0 ? "primary" : "replica",
      timeline: 1,
      xlog: at === 0 ? { location: 1e12 } : { received_location: 1e12, replayed_location: 1e12, paused: false },
      database_system_identifier: "7000000000000000001",
      patroni: { version: "4.1.4", scope: "demo", name },
      tags: { clonefrom: true, nofailover: false, zone: "a" },
      ...(at === 0 ? { replication: senders } : { replication_state: "streaming" }),
    };
    const text = JSON.stringify(said);
    const database = { host: `${name}.databases.example.com`, port: 5432 };
    const kept = { exporter: api(name), isArchiveFed: false, zone: "a", isMemberFixed: false, isFixed: false };
    const report = parseReport(said, text) ?? null;
    const seen = { proof: "settled" as const, report, hasLock: at === 0, sentAtMs: 1, listedAtMs: 1 };
    return { ...neverProbed({ ...kept, name, member: name, api: api(name), database }), ...seen };
  });
  const cluster = withNodes(emptyCluster({ name: "demo", scope: "demo", discover: [] }), nodes);
  const [leader = ""] = names;
  const row = { port: 5432, behind: 123_456, position: 1e12, isSync: false };
  const members = new Map(
    names.map((name) => [name, { name, api: api(name), host: `${name}.databases.example.com`, ...row }]),
  );
  const times = { sentAtMs: 1, answeredAtMs: 1, repeatedAtMs: [1, 2, 3] };
  const known = { leader, names: leader, timeline: 1, received: 1e12, isReceiving: true, namesAt: api(leader) };
  const view = { ...known, ...times, members, unaddressed: new Set<string>(), leftOut: [], isPartial: false };
  const document = (length: number) => ({ status: 200, body: "x".repeat(length), source: leader, sentAtMs: 1 });
  return {
    ...cluster,
    leaderViews: new Map(names.map((name) => [name, view])),
    documents: {
      cluster: document(32_000),
      config: document(5_000),
      history: document(500_000),
      failsafe: document(8_000),
    },
    lastStatement: {
      by: leader,
      leader,
      sentAtMs: 1,
      evidence: { nodes: cluster.nodes, index: cluster.index },
      sampledAtMs: 1,
      countsFromMs: 1,
      free: null,
      isUnbroken: true,
      stoppedAtMs: null,
      returned: null,
    },
  };
}

test("the largest honest cluster comes in full", { timeout: 60_000 }, async (context) => {
  const cluster = largestCluster();
  const state: unknown = JSON.parse(writtenState(sentStateOf(cluster)));
  const full = { cluster: "demo", form: stateForm, state, at: 1, added: 0 };
  const { messages, problem } = await taken(context, `${JSON.stringify({ full })}\n{"ready":true}\n`);
  assert.equal(problem, "the stream has ended");
  const [first, second] = messages.map(({ message }) => message);
  assert.deepEqual(second, { ready: true });
  assert.ok(first !== undefined && "full" in first);
  const schema = clusterStateSchema({ toFollower: (instantMs) => instantMs, sentAtMs: () => 1e9 });
  const read = schema.parse(first.full.state);
  assert.deepEqual(read.leaderViews, cluster.leaderViews);
  assert.deepEqual(read.nodes, cluster.nodes);
});

test("many changes come in parts, of which only the last one ends the message", async (context) => {
  const changes = Array.from({ length: 150 }, (_, at) => ({ cluster: "demo", kind: "new", at }));
  const { messages } = await taken(context, `${JSON.stringify({ changes, seq: 7, at: 1, added: 0 })}\n`);
  const parts = messages.map(({ isPart }) => isPart);
  assert.ok(parts.length > 2, `${parts.length} parts`);
  assert.deepEqual(parts, [...parts.slice(1).fill(true), false]);
  assert.deepEqual(
    messages.flatMap(({ message }) => ("changes" in message ? message.changes : [])),
    changes,
  );
});

for (const [what, sent, problem] of [
  ["too many objects", `{"changes":[${'{"k":1},'.repeat(250_000)}{"k":1}]}\n`, "a message has too many values"],
  ["brackets without end", `${"[".repeat(100_000)}\n`, "a message is too deep"],
  ["empty lines", "\n".repeat(1_000), "it sends what is no message"],
  ["a line without end", "x".repeat(9_000_000), "a message must have at most 8388608 characters"],
] as const)
  test(`an upstream that sends ${what} is dropped, and it is said why`, async (context) => {
    assert.equal((await taken(context, sent)).problem, problem);
  });

test("now and then a line that is no message changes nothing", async (context) => {
  const { messages, problem } = await taken(context, '{"new":1}\n{"ready":true}\n'.repeat(150));
  assert.deepEqual([messages.length, problem], [150, "the stream has ended"]);
});
