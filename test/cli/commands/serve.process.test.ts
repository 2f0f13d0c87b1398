import assert from "node:assert/strict";
import { unlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import { openFakeCluster, type FakeNode } from "../../fake/fake-node.ts";
import { listenDuringTest } from "../../fake/listen.ts";
import { freePort } from "../../fake/free-port.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";

const limit = { timeout: 30_000 };

interface ConfigParts {
  readonly listeners: string;
  readonly more?: string;
}

function configOf(nodes: readonly FakeNode[], { listeners, more = "" }: ConfigParts): string {
  const rows = nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}" }`).join(", ");
  return `clusters: [{ name: demo, nodes: [${rows}] }]\nprobe: { interval: 200ms }\nlisten: [${listeners}]\n${more}\n`;
}

async function startServing(
  context: TestContext,
  more = "drain: 100ms",
): Promise<{ running: RolecallProcess; file: string; port: number; nodes: readonly FakeNode[] }> {
  const nodes = await openFakeCluster(context, ["pg1"]);
  const port = await freePort();
  const file = writeConfigFile(context, configOf(nodes, { listeners: `{ port: ${port}, whole_cluster: true }`, more }));
  const running = new RolecallProcess(context, ["serve", "--config", file]);
  await running.waitForLog("listening");
  return { running, file, port, nodes };
}

async function status(port: number, path: string): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
}

interface ShownConfig {
  readonly file: string | null;
  readonly refused: { readonly problems: number; readonly first: string } | null;
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`exits with 0 on ${signal}`, limit, async (context) => {
    const { running, port } = await startServing(context);
    assert.equal(await status(port, "/primary"), 200);
    running.process.kill(signal);
    assert.equal(await running.exit, 0);
    assert.equal(running.stdout, "");
  });
}

test("drains on SIGTERM: not ready but answering, until a second signal", limit, async (context) => {
  const { running, port } = await startServing(context, "drain: 10min");
  running.process.kill("SIGTERM");
  await running.waitForLog("stopping");
  assert.equal(await status(port, "/readyz"), 503);
  assert.equal(await status(port, "/primary"), 200);
  running.process.kill("SIGHUP");
  assert.equal(await status(port, "/primary"), 200);
  running.process.kill("SIGTERM");
  assert.equal(await running.exit, 0);
});

test(
  "reloads a valid file on SIGHUP, and keeps the old configuration if the file is not valid",
  limit,
  async (context) => {
    const { running, file, port, nodes } = await startServing(context);
    writeFileSync(file, "clusters: 7\n");
    running.process.kill("SIGHUP");
    await running.waitForLog("reload refused");
    assert.match(running.stderr, /clusters/);
    assert.equal(await status(port, "/primary"), 200);
    unlinkSync(file);
    running.process.kill("SIGHUP");
    await running.waitForLog("reload refused", 2);
    const other = await freePort();
    writeFileSync(
      file,
      configOf(nodes, { listeners: `{ port: ${port}, whole_cluster: true }, { port: ${other}, dialect: admin }` }),
    );
    running.process.kill("SIGHUP");
    await running.waitForLog('"reloaded"');
    assert.deepEqual([await status(port, "/primary"), await status(other, "/readyz")], [200, 200]);
    const metrics = await (await fetch(`http://127.0.0.1:${other}/metrics`)).text();
    assert.match(metrics, /rolecall_reloads_total\{outcome="refused"\} 2/);
    assert.match(metrics, /^rolecall_config_problems 0$/m);
    assert.match(metrics, /^rolecall_events_total\{cluster="",kind="reload_refused"\} 2$/m);
    const events = await (await fetch(`http://127.0.0.1:${other}/events?cluster=demo`)).text();
    const { events: found } = JSON.parse(events) as { events: { kind: string; cluster: string | null }[] };
    assert.deepEqual(
      found.filter(({ cluster }) => cluster === null).map(({ kind }) => kind),
      ["started", "reload_refused", "reload_refused", "reload_applied"],
    );
    writeFileSync(file, "clusters: 7\n");
    running.process.kill("SIGHUP");
    await running.waitForLog("reload refused", 3);
    const { config } = (await (await fetch(`http://127.0.0.1:${other}/status`)).json()) as { config: ShownConfig };
    assert.equal(config.file, file);
    assert.equal(config.refused?.problems, 1);
    assert.match(config.refused.first, /:1 clusters: must be/);
  },
);

test("exits with 2 and names the address if a port is in use", limit, async (context) => {
  const taken = createServer();
  const takenPort = await listenDuringTest(context, taken);
  const nodes = await openFakeCluster(context, ["pg1"]);
  const file = writeConfigFile(context, configOf(nodes, { listeners: `{ port: ${takenPort}, whole_cluster: true }` }));
  const running = new RolecallProcess(context, ["serve", "--config", file]);
  assert.equal(await running.exit, 2);
  assert.match(running.stderr, new RegExp(`RC107 +Cannot listen on 127\\.0\\.0\\.1:${takenPort}: .*EADDRINUSE`));
  assert.match(
    running.stderr,
    new RegExp(`Stop the process that uses the port \\(ss -ltnp 'sport = :${takenPort}'\\)`),
  );
});

test("exits with 2 and names the ports if the ports of simulated nodes are in use", limit, async (context) => {
  const taken = createServer();
  const takenPort = await listenDuringTest(context, taken);
  const text =
    `clusters: [{ name: demo, discover: ["http://127.0.0.1:${takenPort}"] }]\n` +
    `simulator: { nodes: 2, port: ${takenPort} }\n`;
  const file = writeConfigFile(context, `${text}listen: [{ port: ${await freePort()}, whole_cluster: true }]\n`);
  const running = new RolecallProcess(context, ["serve", "--config", file]);
  assert.equal(await running.exit, 2);
  assert.match(running.stderr, new RegExp(`Cannot start the simulator: simulator\\.port ${takenPort} .*EADDRINUSE`));
});

test("keeps the old configuration if a port is in use at a reload", limit, async (context) => {
  const { running, file, port, nodes } = await startServing(context);
  const taken = createServer();
  const takenPort = await listenDuringTest(context, taken);
  writeFileSync(file, configOf(nodes, { listeners: `{ port: ${takenPort}, whole_cluster: true }` }));
  running.process.kill("SIGHUP");
  await running.waitForLog("reload refused");
  assert.equal(await status(port, "/primary"), 200);
});

test("exits with 2 on an invalid configuration or command line", limit, async (context) => {
  const wrong = writeConfigFile(context, "clusters: []\nlisten: []\nwhat: 1\n");
  for (const [args, expected] of [
    [["serve", "--config", wrong], /what/],
    [["serve", "--config", "/no/such/file.yaml"], /\/no\/such\/file\.yaml/],
    [["serve"], /--config|clusters/],
    [["serve", "--nonsense"], /nonsense[^]*rolecall serve --help/],
    [["serve", "--discover", "nonsense"], /nonsense/],
    [["nonsense"], /nonsense[^]*rolecall --help/],
  ] as const) {
    const running = new RolecallProcess(context, args);
    assert.equal(await running.exit, 2, args.join(" "));
    assert.match(running.stderr, expected);
  }
  const env = new RolecallProcess(context, ["serve", "--discover", "http://127.0.0.1:1"], {
    env: { ROLECALL_NONSENSE: "1" },
  });
  assert.equal(await env.exit, 2);
  assert.match(env.stderr, /ROLECALL_NONSENSE/);
});

test("writes help to stdout and exits with 0", limit, async (context) => {
  for (const [args, expected] of [
    [["serve", "--help"], /^Usage: rolecall serve/],
    [["--help"], /^rolecall: /],
    [[], /^rolecall: /],
  ] as const) {
    const running = new RolecallProcess(context, args);
    assert.equal(await running.exit, 0);
    assert.match(running.stdout, expected);
  }
});

test("needs only one seed on the command line", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const port = await freePort();
  const running = new RolecallProcess(context, [
    "serve",
    "--discover",
    nodes[1]?.api ?? "",
    "--listen",
    `127.0.0.1:${port}`,
  ]);
  await running.waitForLog("listening");
  assert.deepEqual(
    [
      await status(port, "/primary"),
      await status(port, "/nodes/pg2/replica"),
      await status(port, "/nodes/pg9/replica"),
    ],
    [200, 200, 400],
  );
});

for (const workers of [0, 2]) {
  test(
    `assigns inherited sockets to listeners in the order of the configuration, with ${workers} workers`,
    limit,
    async (context) => {
      const nodes = await openFakeCluster(context, ["pg1"]);
      const socket = createServer();
      const socketPort = await listenDuringTest(context, socket);
      const [port, admin] = [socketPort, await freePort()];
      const file = writeConfigFile(
        context,
        configOf(nodes, {
          listeners: `{ port: ${port}, whole_cluster: true }, { port: ${admin}, dialect: admin }`,
          more: `workers: ${workers}`,
        }),
      );
      // LISTEN_PID must be the id of the process itself: a shell sets it and then replaces itself by the process.
      const command = ["/bin/sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"', process.execPath];
      const running = new RolecallProcess(context, ["serve", "--config", file], {
        command,
        sockets: [handleOf(socket)],
      });
      await running.waitForLog("listening", 2);
      // The descriptor is shared: this process must stop accepting so that the other one gets the connections.
      socket.close();
      assert.deepEqual(
        [await status(port, "/primary"), await status(admin, "/livez"), await status(admin, "/primary")],
        [200, 200, 404],
      );
      running.process.kill("SIGINT");
      assert.equal(await running.exit, 0);
    },
  );
}

test("ignores sockets that were passed to another process", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1"]);
  const port = await freePort();
  const file = writeConfigFile(context, configOf(nodes, { listeners: `{ port: ${port}, whole_cluster: true }` }));
  const running = new RolecallProcess(context, ["serve", "--config", file], {
    env: { LISTEN_PID: "1", LISTEN_FDS: "5" },
  });
  await running.waitForLog("listening");
  assert.equal(await status(port, "/primary"), 200);
});

test("does not use old evidence after the process was stopped for a while", limit, async (context) => {
  const { running, port, nodes } = await startServing(context, "");
  const requestCount = nodes[0]?.requests.length ?? 0;
  running.process.kill("SIGSTOP");
  await nodes[0]?.close();
  await new Promise((resolve) => void setTimeout(resolve, 3_500));
  running.process.kill("SIGCONT");
  assert.ok(requestCount > 0);
  assert.equal(await status(port, "/primary"), 503);
  await running.waitForLog("clock gap detected");
});

/** The file descriptor of a listening server, to pass to a child. */
function handleOf(server: object): number {
  const handle: unknown = Reflect.get(server, "_handle");
  const fd: unknown = typeof handle === "object" && handle !== null ? Reflect.get(handle, "fd") : undefined;
  if (typeof fd !== "number") throw new Error("cannot read the file descriptor of a socket on this system");
  return fd;
}
