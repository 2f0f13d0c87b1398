import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { FakeNode } from "../../fake/fake-node.ts";
import { answerOf, waitForAnswer } from "../../fake/followed-pair.ts";
import { freePort } from "../../fake/free-port.ts";
import { openHostileUpstream } from "../../fake/hostile-upstream.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

// What another instance says of addresses and their proof is a hint: a password goes only to what is configured here or
// has proved itself here.

const limit = { timeout: 120_000 };
const password = "node-password";

/** Opens nodes that take every call, and that name each other. */
async function openNodes(context: TestContext, names: readonly string[]): Promise<readonly FakeNode[]> {
  const respond = (_: unknown, response: { end(text: string): void }): void => response.end("done");
  const nodes = names.map((name) => new FakeNode({ name, holdsLock: name === "pg1", respond }));
  for (const node of nodes) await node.open();
  const members = new Map(nodes.map(({ name, api }) => [name, api]));
  for (const node of nodes) Object.assign(node, { members, leader: "pg1" });
  context.after(async () => {
    for (const node of nodes) await node.close();
  });
  return nodes;
}

/** The nodes of a cluster, and a server of somebody else that says it is pg2. */
async function openAttacked(context: TestContext) {
  const [pg1, pg2] = await openNodes(context, ["pg1", "pg2"]);
  const [attacker] = await openNodes(context, ["pg2"]);
  assert.ok(pg1 !== undefined && pg2 !== undefined && attacker !== undefined);
  return { pg1, pg2, attacker };
}

interface FollowerOptions {
  /** Where its members are: YAML of `discover` or `nodes`. */
  readonly where: string;
  readonly upstream: string | null;
  readonly folder: string;
}

/** Starts a follower that manages nodes. */
async function startFollower(context: TestContext, { where, upstream, folder }: FollowerOptions) {
  const [port, admin] = [await freePort(), await freePort()];
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, `${password}\n`);
  const file = writeConfigFile(
    context,
    `clusters: [{ name: demo, ${where}, auth: { user: rolecall, password_file: ${passwordFile} } }]
probe: { interval: 200ms, timeout: 500ms, connect_timeout: 100ms, max_age: 2s, cluster_interval: 1s }
follow: ${JSON.stringify(upstream === null ? [] : [upstream])}
listen: [{ port: ${port}, whole_cluster: true, management: "on" }, { port: ${admin}, dialect: admin }]
state_file: ${join(folder, "state.json")}
drain: 0s
`,
  );
  const process = new RolecallProcess(context, ["serve", "--config", file]);
  await process.waitForLog("listening");
  return { process, url: `http://127.0.0.1:${port}`, admin: `http://127.0.0.1:${admin}` };
}

function restart({ url }: { readonly url: string }, node: string) {
  const headers = { "Content-Type": "application/json" };
  return sendRequest(`${url}/clusters/demo/nodes/${node}/restart`, { method: "POST", headers, body: "{}" });
}

const carriesPassword = ({ received }: FakeNode): boolean =>
  received.some(({ headers }) => headers.authorization !== undefined);

test("a follower sends no password to an address that only its upstream has proved", limit, async (context) => {
  const folder = temporaryFolder("borrowed-proof");
  const { pg1, attacker } = await openAttacked(context);
  const upstream = await openHostileUpstream(context, [
    { name: "pg1", api: pg1.api, isLeader: true, isFixed: true },
    { name: "pg2", api: attacker.api, isLeader: false, isFixed: true },
  ]);
  const where = `discover: [${JSON.stringify(pg1.api)}]`;
  const edge = await startFollower(context, { where, upstream, folder });
  await waitForAnswer(edge, "/nodes/pg2/replica", /^200/);
  const refused = await restart(edge, "pg2");
  assert.equal(refused.status, 503, refused.body);
  assert.match(refused.body, /unproved.*another instance's word/);
  // Neither does what answers only for the asking: a page of the node, with what the client sent along.
  const fetched = await sendRequest(`${edge.url}/clusters/demo/nodes/pg2/metrics`, {
    headers: { Authorization: "Basic x" },
  });
  assert.notEqual(fetched.status, 200);
  assert.deepEqual(attacker.received, []);
  // What proves itself here is managed as ever.
  const restarted = await restart(edge, "pg1");
  assert.equal(restarted.status, 200, restarted.body);
  assert.ok(carriesPassword(pg1));
  // A restart forgets nothing of that, whether it follows still or not.
  edge.process.process.kill("SIGTERM");
  assert.equal(await edge.process.exit, 0);
  assert.deepEqual(JSON.parse(readFileSync(join(folder, "state.json"), "utf8")).heard, ["demo"]);
  const alone = await startFollower(context, { where, upstream: null, folder });
  await waitForAnswer(alone, "/nodes/pg1/primary", /^200/);
  assert.notEqual((await restart(alone, "pg2")).status, 200);
  assert.deepEqual(attacker.received, []);
});

test(
  "a node that is configured here gets calls at its own address, whatever its upstream says",
  limit,
  async (context) => {
    const folder = temporaryFolder("borrowed-proof");
    const { pg1, pg2, attacker } = await openAttacked(context);
    const upstream = await openHostileUpstream(context, [
      { name: "pg1", api: pg1.api, isLeader: true, isFixed: true },
      { name: "pg2", api: attacker.api, isLeader: false, isFixed: true },
      { name: "pg9", api: attacker.api, isLeader: false, isFixed: true },
    ]);
    const nodes = [pg1, pg2].map(({ name, api }) => `{ name: ${name}, api: ${JSON.stringify(api)} }`);
    const edge = await startFollower(context, { where: `nodes: [${nodes.join(", ")}]`, upstream, folder });
    await waitForAnswer(edge, "/nodes/pg2/replica", /^200/);
    assert.equal((await restart(edge, "pg2")).status, 200);
    assert.ok(carriesPassword(pg2));
    assert.notEqual((await restart(edge, "pg9")).status, 200);
    assert.deepEqual(attacker.received, []);
  },
);

test("members that their servers prove here are managed by a follower too", limit, async (context) => {
  const folder = temporaryFolder("borrowed-proof");
  const [pg1, pg2] = await openNodes(context, ["pg1", "pg2"]);
  assert.ok(pg1 !== undefined && pg2 !== undefined);
  const told = [pg1, pg2].map(({ name, api }) => ({ name, api, isLeader: name === "pg1", isFixed: false }));
  const upstream = await openHostileUpstream(context, told);
  const where = `discover: [${JSON.stringify(pg1.api)}]`;
  const edge = await startFollower(context, { where, upstream, folder });
  await waitForAnswer(edge, "/nodes/pg2/replica", /^200/);
  const restarted = await restart(edge, "pg2");
  assert.equal(restarted.status, 200, restarted.body);
  assert.ok(carriesPassword(pg2));
  assert.match(await answerOf(edge, "/nodes/pg2/replica"), /^200/);
});
