import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { CertificateAuthority } from "../../fake/certificates.ts";
import { type FakeNode, openFakeCluster } from "../../fake/fake-node.ts";
import {
  answerOf,
  type Instance,
  openDetour,
  startInstance,
  startPair,
  waitForAnswer,
} from "../../fake/followed-pair.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { until } from "../../fake/until.ts";

const limit = { timeout: 120_000 };

/** How often each node was asked for its status while something ran. */
async function statusesDuring(nodes: readonly FakeNode[], run: () => Promise<unknown>): Promise<readonly number[]> {
  const before = nodes.map(statuses);
  await run();
  return nodes.map((node, at) => statuses(node) - (before[at] ?? 0));
}

function statuses({ requests }: FakeNode): number {
  return requests.filter((path) => path === "/leader").length;
}

/** Asks without a pause. @returns the answers that are not the wanted one, until `end` is called */
function watch(
  instance: Pick<Instance, "url">,
  path: string,
  wanted: RegExp,
): { readonly end: () => Promise<string[]> } {
  const others: string[] = [];
  const ending = new AbortController();
  const running = (async () => {
    while (!ending.signal.aborted) {
      const answer = await answerOf(instance, path);
      if (!wanted.test(answer)) others.push(answer);
      await sleep(5);
    }
  })();
  return {
    end: async () => {
      ending.abort();
      await running;
      return others;
    },
  };
}

/** Whether `/metrics` of an instance has series of nodes: its own, and those that the nodes would export. */
async function exportsNodes({ admin }: Instance): Promise<boolean> {
  const { body } = await sendRequest(`${admin}/metrics`);
  const [own = false, theirs] = ["rolecall_node_up", "patroni_primary"].map((name) => body.includes(`\n${name}{`));
  assert.equal(own, theirs);
  return own;
}

test("a follower answers as its owner does, and asks no node", limit, async (context) => {
  const { nodes, edge, owner } = await startPair(context);
  for (const path of ["/nodes/pg1/primary", "/nodes/pg2/replica", "/nodes/pg3/replica?lag=1MB", "/primary"])
    assert.match(await answerOf(edge, path), /^200/);
  // Each instance is asked for two seconds: the nodes hear the owner alone.
  const asked = await statusesDuring(nodes, () => sleep(2_000));
  for (const count of asked) assert.ok(count >= 8 && count <= 12, `${asked.join(", ")} in 2 s, once every 200 ms`);
  const [own, theirs] = await Promise.all([
    sendRequest(`${edge.url}/nodes/pg2`),
    sendRequest(`${owner.url}/nodes/pg2`),
  ]);
  const { rolecall: _, ...document } = JSON.parse(own.body);
  const { rolecall: __, ...documentThere } = JSON.parse(theirs.body);
  assert.deepEqual(document, documentThere);
  assert.equal(await exportsNodes(owner), true);
  await until("no series of nodes from the follower", async () => !(await exportsNodes(edge)));
});

test("it follows a change within a moment", limit, async (context) => {
  const { nodes, edge, owner } = await startPair(context);
  const seen = { edge: 0, owner: 0 };
  const watching = (["edge", "owner"] as const).map(async (who) => {
    const instance = who === "edge" ? edge : owner;
    await until("the new primary", async () => (await answerOf(instance, "/nodes/pg2/primary")).startsWith("200"));
    seen[who] = performance.now();
  });
  for (const node of nodes) node.leader = "pg2";
  await Promise.all(watching);
  assert.ok(seen.edge - seen.owner < 1_000, `${seen.edge - seen.owner} ms after its owner`);
  assert.match(await answerOf(edge, "/nodes/pg1/primary"), /^503/);
});

test("members that an owner discovers are known to its follower", limit, async (context) => {
  const { nodes, edge } = await startPair(context, { discovers: true });
  for (const path of ["/nodes/pg1/primary", "/nodes/pg2/replica", "/nodes/pg3/replica"])
    assert.match(await answerOf(edge, path), /^200/);
  const asked = await statusesDuring(nodes, () => sleep(1_000));
  for (const count of asked) assert.ok(count <= 7, `${asked.join(", ")} in 1 s, once every 200 ms`);
});

test(
  "an owner that is killed is replaced by probes before a yes lapses, and taken back when it is there again",
  limit,
  async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
    const owner = await startInstance(context, { nodes });
    const edge = await startInstance(context, { nodes, follow: [owner.admin] });
    const [reads, writes] = [watch(edge, "/nodes/pg2/replica", /^200/), watch(edge, "/nodes/pg1/primary", /^200/)];
    owner.process.process.kill("SIGKILL");
    await until("probes of the follower", async () =>
      (await statusesDuring(nodes, () => sleep(500))).every((count) => count >= 2),
    );
    await until("series of nodes from the follower", () => exportsNodes(edge));
    await startInstance(context, { nodes, adminPort: Number(new URL(owner.admin).port) });
    await edge.process.waitForLog("upstream followed", 2);
    // The owner asks five times a second. So did the follower.
    await until("probes of the owner alone", async () =>
      (await statusesDuring(nodes, () => sleep(1_000))).every((count) => count <= 6),
    );
    await until("none from the follower", async () => !(await exportsNodes(edge)));
    assert.deepEqual([await reads.end(), await writes.end()], [[], []]);
  },
);

test("an owner that stands still is replaced, and goes on", limit, async (context) => {
  const { nodes, owner, edge } = await startPair(context);
  const reads = watch(edge, "/nodes/pg2/replica", /^200/);
  owner.process.process.kill("SIGSTOP");
  await until("probes of the follower", async () =>
    (await statusesDuring(nodes, () => sleep(500))).every((count) => count >= 2),
  );
  await sleep(1_000);
  owner.process.process.kill("SIGCONT");
  await until("probes of one of them", async () =>
    (await statusesDuring(nodes, () => sleep(1_000))).every((count) => count <= 6),
  );
  assert.deepEqual(await reads.end(), []);
});

test("a follower that stood still says no yes from old evidence", limit, async (context) => {
  const { owner, edge } = await startPair(context);
  edge.process.process.kill("SIGSTOP");
  owner.process.process.kill("SIGSTOP");
  await sleep(3_000);
  edge.process.process.kill("SIGCONT");
  const { status, body } = await sendRequest(`${edge.url}/nodes/pg1/primary`);
  if (status === 200) {
    const ageMs = Date.now() - Date.parse(JSON.parse(body).rolecall.observed_at);
    assert.ok(ageMs < 2_000, `a yes from evidence of ${ageMs} ms ago`);
  }
  owner.process.process.kill("SIGCONT");
  await waitForAnswer(edge, "/nodes/pg1/primary", /^200/);
});

test("a node that only the owner cannot reach stays fit, and is asked once in a while", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const [, pg2] = nodes;
  assert.ok(pg2 !== undefined);
  const detour = await openDetour(context, pg2);
  const owner = await startInstance(context, { nodes, env: detour.env });
  const edge = await startInstance(context, { nodes, follow: [owner.admin] });
  const reads = watch(edge, "/nodes/pg2/replica", /^200/);
  detour.cut();
  await waitForAnswer(owner, "/nodes/pg2/replica", /^503 down/);
  const asked = await statusesDuring(nodes, () => sleep(4_000));
  assert.deepEqual(await reads.end(), []);
  assert.ok((asked[1] ?? 0) > 1 && (asked[1] ?? 0) < 15, `pg2 was asked ${asked[1]} times in 4 s, 20 by a prober`);
  // Now it has died for the follower too.
  await pg2.close();
  await waitForAnswer(edge, "/nodes/pg2/replica", /^503 down/);
});

/** Drains pg2 for an hour, or ends that. */
function drainReplica({ admin }: Instance, method: "POST" | "DELETE"): Promise<unknown> {
  return sendRequest(`${admin}/drains/demo/pg2`, {
    method,
    headers: { "Content-Type": "application/json" },
    body: method === "POST" ? JSON.stringify({ reason: "disk", by: "ann", for: "1h" }) : "",
  });
}

test("a drain of the owner is one of its follower, and ends with it", limit, async (context) => {
  const { owner, edge } = await startPair(context);
  await drainReplica(owner, "POST");
  await waitForAnswer(edge, "/nodes/pg2/replica", /^503 drained/);
  await edge.process.waitForLog("disk");
  await drainReplica(owner, "DELETE");
  await waitForAnswer(edge, "/nodes/pg2/replica", /^200/);
});

test(
  "a drain of the owner that ends while its follower is stopped has ended when that starts",
  limit,
  async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
    const folder = mkdtempSync(join(tmpdir(), "rolecall-follow-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const owner = await startInstance(context, { nodes });
    const startEdge = (): Promise<Instance> =>
      startInstance(context, {
        nodes,
        follow: [owner.admin],
        env: { ROLECALL_STATE_FILE: join(folder, "state.json") },
      });
    const before = await startEdge();
    await drainReplica(owner, "POST");
    await waitForAnswer(before, "/nodes/pg2/replica", /^503 drained/);
    before.process.process.kill("SIGTERM");
    await before.process.exit;
    const meanwhile = await startEdge();
    await meanwhile.process.waitForLog("drain restored");
    await waitForAnswer(meanwhile, "/nodes/pg2/replica", /^503 drained/);
    meanwhile.process.process.kill("SIGTERM");
    await meanwhile.process.exit;
    await drainReplica(owner, "DELETE");
    await waitForAnswer(await startEdge(), "/nodes/pg2/replica", /^200/);
  },
);

test("a stream that breaks goes on where it was", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const owner = await startInstance(context, { nodes });
  const edge = await startInstance(context, { nodes, follow: [owner.admin] });
  assert.match(await answerOf(edge, "/nodes/pg1/primary"), /^200/);
  // On a busy machine the edge may have asked the nodes itself first.
  await edge.process.waitForLog("upstream followed");
  // On a busy machine the stream may break by itself, and no stream be there that a reload ends.
  let reloadedMs = -Infinity;
  await until({ what: "a stream that a reload ends", seconds: 60, evidence: () => edge.process.stderr }, () => {
    if (performance.now() - reloadedMs > 3_000) {
      owner.process.process.kill("SIGHUP");
      reloadedMs = performance.now();
    }
    return edge.process.stderr.includes("it says: reload");
  });
  const [before = ""] = edge.process.stderr.split("it says: reload");
  await edge.process.waitForLog("upstream followed", before.split("upstream followed").length);
  const asked = await statusesDuring(nodes, () => sleep(1_000));
  for (const count of asked) assert.ok(count <= 7, `${asked.join(", ")} in 1 s, once every 200 ms`);
});

test("a reload of the follower leaves its stream as it is", limit, async (context) => {
  const { nodes, edge } = await startPair(context);
  await edge.process.waitForLog("upstream followed");
  edge.process.process.kill("SIGHUP");
  await edge.process.waitForLog("reload_applied");
  const reads = watch(edge, "/nodes/pg2/replica", /^200/);
  const asked = await statusesDuring(nodes, () => sleep(1_000));
  for (const count of asked) assert.ok(count <= 7, `${asked.join(", ")} in 1 s, once every 200 ms`);
  assert.deepEqual(await reads.end(), []);
  assert.equal(edge.process.stderr.split("upstream followed").length, 2);
});

test("of two upstreams one may die, and nothing is probed", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const owners = [await startInstance(context, { nodes }), await startInstance(context, { nodes })];
  const edge = await startInstance(context, { nodes, follow: owners.map(({ admin }) => admin) });
  await edge.process.waitForLog("upstream followed", 2);
  const reads = watch(edge, "/nodes/pg2/replica", /^200/);
  owners[0]?.process.process.kill("SIGKILL");
  await edge.process.waitForLog("upstream not followed");
  const asked = await statusesDuring(nodes, () => sleep(3_000));
  assert.deepEqual(await reads.end(), []);
  for (const count of asked) assert.ok(count <= 18, `${asked.join(", ")} in 3 s, by one owner five times a second`);
});

test("who has no token of the owner follows nothing, and probes", limit, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-follow-"));
  context.after(() => rmSync(folder, { recursive: true }));
  for (const name of ["edge", "other"]) writeFileSync(join(folder, `${name}.token`), `secret-of-${name}\n`);
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const access = `, followers: [{ token_file: ${folder}/edge.token, clusters: [demo] }, { token_file: ${folder}/other.token, clusters: [demo2] }]`;
  const other = ', { name: demo2, nodes: [{ name: x, api: "http://127.0.0.1:1" }] }';
  const owner = await startInstance(context, { nodes, access, clusters: other });
  const follower = (token: string | null): Promise<Instance> =>
    startInstance(context, {
      nodes,
      follow: [token === null ? owner.admin : { url: owner.admin, token_file: `${folder}/${token}.token` }],
    });
  const [admitted, refused, unknown] = [await follower("edge"), await follower("other"), await follower(null)];
  await admitted.process.waitForLog("upstream followed");
  await refused.process.waitForLog("Cannot feed cluster demo: the credential must be one that may follow it");
  await unknown.process.waitForLog("it needs a credential of this listener");
  for (const edge of [admitted, refused, unknown]) assert.match(await answerOf(edge, "/nodes/pg1/primary"), /^200/);
});

test("over TLS a follower is who its certificate says, or its token", limit, async (context) => {
  const authority = new CertificateAuthority();
  context.after(() => authority.remove());
  const [server, edge7, edge8] = ["core1", "edge7", "edge8"].map((name) => authority.issue(name));
  assert.ok(server !== undefined && edge7 !== undefined && edge8 !== undefined);
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const tls = JSON.stringify({ ...server, ca: authority.ca, client: "optional" });
  const token = join(authority.folder, "edge.token");
  writeFileSync(token, "the-token-of-an-edge\n");
  const followers = `[{ certificate: edge7 }, { token_file: "${token}" }]`;
  const owner = await startInstance(context, { nodes, access: `, tls: ${tls}, followers: ${followers}` });
  const url = owner.admin.replace("http:", "https:");
  const follower = (files: object): Promise<Instance> =>
    startInstance(context, { nodes, follow: [{ url, tls: { ca: authority.ca, ...files } }] });
  const [admitted, other, nobody] = [await follower(edge7), await follower(edge8), await follower({})];
  const both = await startInstance(context, {
    nodes,
    follow: [{ url, tls: { ca: authority.ca, ...edge8 }, token_file: token }],
  });
  await admitted.process.waitForLog("upstream followed");
  await both.process.waitForLog("upstream followed");
  await other.process.waitForLog("Cannot feed cluster demo: the credential must be one that may follow it");
  await nobody.process.waitForLog("it needs a credential of this listener");
  for (const edge of [admitted, both]) assert.doesNotMatch(edge.process.stderr, /Cannot feed/);
  for (const edge of [admitted, other, nobody]) assert.match(await answerOf(edge, "/nodes/pg1/primary"), /^200/);
});

test("workers of a follower answer as it does", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const owner = await startInstance(context, { nodes });
  const edge = await startInstance(context, { nodes, follow: [owner.admin], workers: 1 });
  await edge.process.waitForLog("worker started");
  await until("the owner as the only prober", async () =>
    (await statusesDuring(nodes, () => sleep(500))).every((count) => count <= 4),
  );
  const reads = watch(edge, "/nodes/pg2/replica", /^200/);
  for (const node of nodes) node.leader = "pg3";
  await waitForAnswer(edge, "/nodes/pg3/primary", /^200/);
  await waitForAnswer(edge, "/nodes/pg1/primary", /^503/);
  assert.deepEqual(await reads.end(), []);
});

test("instances that ask differently do not follow each other, and say which key differs", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
  const owner = await startInstance(context, { nodes });
  const edge = await startInstance(context, {
    nodes,
    follow: [owner.admin],
    probe: "{ interval: 300ms, timeout: 300ms, connect_timeout: 100ms, max_age: 2s, cluster_interval: 1s }",
  });
  await edge.process.waitForLog("probe.interval must be the same in both configurations");
  assert.match(await answerOf(edge, "/nodes/pg1/primary"), /^200/);
});
