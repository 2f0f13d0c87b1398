import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import { startFaultControl } from "../../../src/tools/simulator/control-server.ts";
import { startSimulator, type Simulator } from "../../../src/tools/simulator/simulator.ts";
import { faultList } from "../../../src/tools/simulator/model/fault-list.ts";
import { listenDuringTest } from "../../fake/listen.ts";

interface Controlled {
  readonly url: string;
  readonly clusters: readonly Simulator[];
}

async function controlDuringTest(context: TestContext, scopes: readonly string[]): Promise<Controlled> {
  const clusters = await Promise.all(scopes.map((scope) => startSimulator({ nodes: 3, port: 0, scope })));
  const control = await startFaultControl(clusters, 0);
  context.after(() => Promise.all([control.stop(), ...clusters.map((cluster) => cluster.stop())]));
  return { url: control.url, clusters };
}

interface Sent {
  readonly status: number;
  readonly text: string;
}

async function send(url: string, method = "POST", headers: Record<string, string> = {}): Promise<Sent> {
  const response = await fetch(url, { method, headers });
  return { status: response.status, text: await response.text() };
}

/** The faults of every node, as `GET /sim` shows them. */
function faultsOf({ clusters }: Controlled): readonly unknown[] {
  return clusters.flatMap((cluster) =>
    (cluster.model()["nodes"] as { readonly faults: unknown }[]).map((n) => n.faults),
  );
}

test("GET / lists every fault, and each of its commands injects it", async (context) => {
  const controlled = await controlDuringTest(context, ["demo"]);
  const index = await send(`${controlled.url}/`, "GET");
  assert.equal(index.status, 200);
  const commands = [...index.text.matchAll(/curl -X POST '?(http:\/\/[^\s']+)/g)].map(([, url = ""]) => url);
  assert.equal(commands.length, faultList.length + 2);
  for (const { name } of faultList) {
    const command = commands.find((url) => url.includes(`/${name}`)) ?? assert.fail(name);
    const { status, text } = await send(command);
    assert.equal(status, 200);
    assert.match(text, /^pg3 \(replica\): .*\.\nUndo: curl -X POST http:\S+\/sim\/pg3\/heal\n$/);
    assert.ok(name in (faultsOf(controlled)[2] as object), name);
    assert.match((await send(`${controlled.url}/sim/pg3/heal`)).text, /^pg3 .*all its faults are undone\.\n$/);
    assert.deepEqual(faultsOf(controlled), [{}, {}, {}]);
  }
});

test("POST /sim/heal undoes every fault, after the death of every node too", async (context) => {
  const controlled = await controlDuringTest(context, ["demo"]);
  for (const node of ["pg1", "pg2", "pg3"])
    assert.equal((await send(`${controlled.url}/sim/${node}/kill`)).status, 200);
  await send(`${controlled.url}/sim/pg2/detach`);
  assert.deepEqual(await send(`${controlled.url}/sim/heal`), {
    status: 200,
    text: "All 3 nodes of demo: all faults are undone.\n",
  });
  assert.deepEqual(faultsOf(controlled), [{}, {}, {}]);
  for (const { url } of controlled.clusters[0]?.nodes ?? [])
    assert.equal((await send(`${url}/sim`, "GET")).status, 200);
});

test("the node leader is the one that leads; a fault says how it finds the node", async (context) => {
  const { url } = await controlDuringTest(context, ["demo"]);
  assert.match((await send(`${url}/sim/leader/detach`)).text, /^pg1 \(leader\): .* A leader has nothing to receive/);
  assert.match((await send(`${url}/sim/leader/claim`)).text, /^pg1 \(leader\): .* It is the leader already/);
  assert.match((await send(`${url}/sim/leader/kill`)).text, /Another node leads once its lock expires, in \d+ s\.\n/);
  assert.match((await send(`${url}/sim/pg1/freeze`)).text, /It is killed, so this changes nothing/);
});

test("several clusters are named in the path", async (context) => {
  const controlled = await controlDuringTest(context, ["demo", "demo2"]);
  const { url } = controlled;
  assert.match((await send(url, "GET")).text, /\n {2}demo2\/leader demo2\/pg1 demo2\/pg2 demo2\/pg3\n/);
  const { text } = await send(`${url}/sim/demo2/pg3/detach`);
  assert.ok(text.endsWith(`Undo: curl -X POST ${url}/sim/demo2/pg3/heal\n`), text);
  assert.deepEqual(faultsOf(controlled), [{}, {}, {}, {}, {}, { detach: true }]);
  assert.match((await send(`${url}/sim/pg1/kill`)).text, /must be \/sim\/\{cluster\}.*: demo, demo2\n/);
  const model = JSON.parse((await send(`${url}/sim`, "GET")).text) as { readonly clusters: { scope: string }[] };
  assert.deepEqual(
    model.clusters.map(({ scope }) => scope),
    ["demo", "demo2"],
  );
  assert.equal((await send(`${url}/sim/heal`)).status, 200);
  assert.deepEqual(new Set(faultsOf(controlled).map((faults) => JSON.stringify(faults))), new Set(["{}"]));
});

const mistakes = [
  ["POST", "/sim/pg1/detch", 400, /got "detch": did you mean detach\?/],
  ["POST", "/sim/pg1/KILL", 400, /did you mean kill\?/],
  ["POST", "/sim/pg1/explode", 400, /must be one of kill, .*, got "explode"\n/],
  ["POST", "/sim/pg1", 400, /must be one of kill, .*, got ""\n/],
  ["POST", "/sim/pg9/kill", 404, /must be leader or one of pg1, pg2, pg3, got "pg9"/],
  ["POST", "/sim/pg1/lag?bytes=much", 400, /bytes must be/],
  ["GET", "/sim/pg1/kill", 405, /method must be POST, got GET/],
  ["POST", "/sim", 405, /method must be GET, got POST/],
  ["GET", "/kill", 404, /^Faults of the simulated cluster/],
] as const;

for (const [method, path, status, says] of mistakes) {
  test(`${method} ${path} is ${status} with a hint`, async (context) => {
    const controlled = await controlDuringTest(context, ["demo"]);
    const answer = await send(controlled.url + path, method);
    assert.equal(answer.status, status);
    assert.match(answer.text, says);
    assert.deepEqual(faultsOf(controlled), [{}, {}, {}]);
  });
}

test("answers are JSON where the client accepts it", async (context) => {
  const { url } = await controlDuringTest(context, ["demo"]);
  const accept = { accept: "application/json" };
  const model = JSON.parse((await send(`${url}/sim/pg2/hang`, "POST", accept)).text) as Record<string, unknown>;
  assert.equal(model["scope"], "demo");
  assert.match(
    (await send(`${url}/sim/pg2/hagn`, "POST", accept)).text,
    /^\{"error":"Cannot do this: .*mean hang\?"\}$/,
  );
});

test("a killed node whose port was taken meanwhile cannot be healed: 409 says why", async (context) => {
  const { url, clusters } = await controlDuringTest(context, ["demo"]);
  await send(`${url}/sim/pg2/kill`);
  const port = Number(new URL(clusters[0]?.nodes[1]?.url ?? "").port);
  const thief = createServer();
  await new Promise<void>((resolve) => void thief.listen(port, "127.0.0.1", resolve));
  context.after(() => void thief.close());
  const { status, text } = await send(`${url}/sim/pg2/heal`);
  assert.equal(status, 409);
  assert.match(text, /EADDRINUSE/);
});

test("a taken port is an error", async (context) => {
  const taken = await listenDuringTest(context, createServer());
  await assert.rejects(startFaultControl([], taken), { code: "EADDRINUSE" });
});

test("a second primary answers as a primary, on its own port only and until it is healed", async (context) => {
  const { url, clusters } = await controlDuringTest(context, ["demo"]);
  const [pg1 = "", , pg3 = ""] = clusters[0]?.nodes.map((node) => node.url) ?? [];
  await send(`${url}/sim/pg3/claim`);
  for (const node of [pg1, pg3]) {
    assert.equal((await send(`${node}/primary`, "GET")).status, 200);
    assert.equal((await send(`${node}/replica`, "GET")).status, 503);
    assert.equal((JSON.parse((await send(`${node}/leader`, "GET")).text) as { role: string }).role, "primary");
  }
  await send(`${url}/sim/pg3/heal`);
  assert.equal((await send(`${pg3}/primary`, "GET")).status, 503);
});
