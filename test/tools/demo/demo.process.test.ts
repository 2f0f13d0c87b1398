import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import { isFree } from "../../fake/free-port.ts";
import { listenDuringTest } from "../../fake/listen.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { until } from "../../fake/until.ts";

const limit = { timeout: 240_000 };

/** A demo that was started in another folder than the repository. */
async function startDemo(context: TestContext, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Demo> {
  const command = ["/bin/sh", "-c", 'cd / && exec "$0" "$@"', process.execPath];
  const running = new RolecallProcess(context, ["demo", ...args], { command, env });
  const wait = { what: "the banner", seconds: 60, evidence: () => running.stdout + running.stderr };
  await until(wait, () => running.stdout.includes("Press Ctrl-C"));
  return { running, banner: running.stdout };
}

interface Demo {
  readonly running: RolecallProcess;
  readonly banner: string;
}

/** The commands of a banner, as one would copy them: a line that ends with a backslash goes on in the next one. */
function commandsOf(banner: string): readonly string[] {
  return [...banner.replaceAll(" \\\n   ", "").matchAll(/^ {2}((?:curl|rolecall|alias|sleep) .*)$/gm)].map(
    ([, command = ""]) => command,
  );
}

/** Runs a command in a shell, after the lines that prepare the shell. */
async function run(setup: readonly string[], command: string): Promise<string> {
  const { PATH } = process.env;
  const child = spawn("/bin/sh", ["-c", [...setup, command].join("\n")], { env: { PATH, HOME: "/" }, cwd: "/" });
  let out = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stdin.end();
  await once(child, "close");
  return out;
}

/** The start of every command of the tour without its addresses, and what it must show in the end. */
const tour: readonly (readonly [command: RegExp, shows: RegExp])[] = [
  [/^rolecall status/, /leader pg1[^]*primary[^]*replica/],
  [/^curl -I \S*\/nodes\/pg1\/primary$/, /^HTTP\/1\.1 200 /],
  [/^curl -I '\S*\/nodes\/pg2\/replica\?lag=1MB'$/, /^HTTP\/1\.1 200 /],
  [/^curl -X POST \S*\/pg2\/detach$/, /^pg2 \(replica\): it receives no WAL.*\nUndo: curl -X POST \S*\/pg2\/heal\n$/],
  [/^curl -I \S*\/replica$/, /^HTTP\/1\.0 200 /],
  [/^sleep 13; curl -I \S*\/nodes\/pg2\/replica$/, /^HTTP\/1\.1 503 detached/],
  [/^rolecall explain \/replica --node (?:demo\/)?pg2/, /unfit: detached/],
  [/^curl -X POST '\S*\/pg3\/lag\?bytes=9MB'$/, /9437184 bytes behind/],
  [/^sleep 3; curl -I '\S*\/nodes\/pg3\/replica\?lag=1MB'$/, /^HTTP\/1\.1 503 lagging/],
  [/^curl -I \S*\/nodes\/pg3\/replica$/, /^HTTP\/1\.1 200 /],
  [/^curl -X POST \S*\/pg3\/claim$/, /claims the leader lock/],
  [/^curl -I \S*\/primary$/, /^HTTP\/1\.0 200 /],
  [/^sleep 3; curl -I \S*\/nodes\/pg3\/primary$/, /^HTTP\/1\.1 503 superseded/],
  [/^curl -X POST \S*\/pg3\/heal$/, /^pg3 .*undone/],
  [/^curl -X POST \S*\/sim\/heal$/, /^All 3 nodes/],
  [/^sleep 4; curl -I '\S*\/nodes\/pg2\/replica\?lag=1MB'$/, /^HTTP\/1\.1 200 /],
  [/^curl -I '\S*\/nodes\/pg3\/replica\?lag=1MB'$/, /^HTTP\/1\.1 200 /],
  [/^rolecall switchover --candidate pg2 --yes/, /switched over to "pg2"/],
  [/^curl -X POST \S*\/leader\/kill$/, /^pg2 \(leader\): its process is gone/],
  [/^sleep 6; curl -I \S*\/primary$/, /^HTTP\/1\.1 503 /],
  [/^curl -X POST \S*\/sim\/heal$/, /undone/],
  [/^sleep 4; curl -I \S*\/primary$/, /^HTTP\/1\.1 200 /],
  [/^curl -X POST \S*\/leader\/freeze$/, /\(leader\): its process is stopped/],
  [/^sleep 6; curl -I \S*\/primary$/, /^HTTP\/1\.1 503 /],
  [/^curl -X POST \S*\/sim\/heal$/, /undone/],
  [/^sleep 4; curl -I \S*\/primary$/, /^HTTP\/1\.1 200 /],
];

for (const count of [1, 2]) {
  test(
    `every command of the banner shows what is said when it is pasted, with ${count} cluster(s)`,
    limit,
    async (context) => {
      const { running, banner } = await startDemo(context, ["--port", "0", "--clusters", String(count)]);
      const [alias = "", ...commands] = commandsOf(banner);
      assert.match(alias, /^alias rolecall='node \S*main\.js'$/);
      assert.equal(commands.length, tour.length);
      for (const [at, [expected, shows]] of tour.entries()) {
        const command = commands[at] ?? "";
        assert.match(command, expected);
        // `--watch` needs a terminal. Nothing is tried again: the waits of the tour must be long enough.
        const plain = command.replace(" --watch", "").replace(/^(sleep \d+; )?curl/, "$1curl -sS");
        const out = await run([alias], plain);
        assert.match(out, shows, `${plain}\n${running.stderr}`);
      }
    },
  );
}

test("after a killed leader, another node becomes the primary within the announced time", limit, async (context) => {
  const { banner } = await startDemo(context, ["--port", "0"]);
  const [, faults = ""] = /^ {2}faults +(\S+)/m.exec(banner) ?? [];
  const [, health = ""] = /^ {2}health checks +(\S+)/m.exec(banner) ?? [];
  const statusOf = async (path: string): Promise<number> => (await fetch(`${health}${path}`)).status;
  await fetch(`${faults}/sim/leader/kill`, { method: "POST" });
  await until("no primary", async () => (await statusOf("/primary")) === 503);
  await until({ what: "a new primary", seconds: 60 }, async () => (await statusOf("/primary")) === 200);
  assert.equal(await statusOf("/nodes/pg1/primary"), 503);
  await fetch(`${faults}/sim/heal`, { method: "POST" });
  const wait = { what: "the old primary as a replica", seconds: 60 };
  await until(wait, async () => (await statusOf("/nodes/pg1/replica")) === 200);
});

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  test(`ends with 0 and closes its ports on ${signal}`, limit, async (context) => {
    const { running, banner } = await startDemo(context, ["--port", "0"]);
    running.process.kill(signal);
    assert.equal(await running.exit, 0);
    assert.match(running.stdout, /\nStopped\.\n$/);
    assert.equal(running.stderr, "");
    for (const [url] of banner.matchAll(/http:\/\/127\.0\.0\.1:\d+/g)) await assert.rejects(fetch(url));
  });
}

test("ends with 0 on Ctrl-C while it starts", limit, async (context) => {
  const running = new RolecallProcess(context, ["demo", "--port", "0", "--clusters", "20", "--log-level", "info"]);
  await running.waitForLog("node seen");
  running.process.kill("SIGINT");
  assert.equal(await running.exit, 0);
});

test("takes free ports where the usual ones are taken, and prints them", limit, async (context) => {
  const usual = [8008, 9108, 18_007, 18_009];
  for (const port of usual) await takePort(context, port);
  const { banner } = await startDemo(context, []);
  const ports = [...banner.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
  assert.deepEqual(
    ports.filter((port) => usual.includes(port)),
    [],
  );
  const [, health = ""] = /^ {2}health checks +(\S+)/m.exec(banner) ?? [];
  const [, admin = ""] = /^ {2}status +(\S+)\/status/m.exec(banner) ?? [];
  assert.match(banner, new RegExp(`^ {2}rolecall status --watch --server ${admin}$`, "m"));
  assert.equal((await fetch(`${health}/primary`)).status, 200);
});

test("refuses a port that the user chose and that is taken, or that is none", limit, async (context) => {
  const taken = await listenDuringTest(context, createServer());
  for (const [args, expected] of [
    [["--port", String(taken)], /127\.0\.0\.1:\d+: .*EADDRINUSE/],
    [["--port", "70000"], /--port must be an integer from 0 to 65535, got "70000"/],
    [["--clusters", "0"], /--clusters must be an integer from 1 to 100, got "0"/],
    [["--log-level", "loud"], /--log-level: must be/],
  ] as const) {
    const running = new RolecallProcess(context, ["demo", ...args]);
    assert.equal(await running.exit, 2, args.join(" "));
    assert.match(running.stderr, expected);
    assert.equal(running.stdout, "");
  }
});

test("a demo that cannot start is no completed service", limit, async (context) => {
  const taken = await listenDuringTest(context, createServer());
  for (const args of [
    ["--port", String(taken)],
    ["--port", "70000"],
    ["--log-level", "loud"],
  ]) {
    const running = new RolecallProcess(context, ["demo", "--format", "json", ...args]);
    assert.equal(await running.exit, 2, args.join(" "));
    const [{ id, status }] = JSON.parse(running.stdout).coverage;
    assert.deepEqual([id, status], ["service", "not_checked"], running.stdout);
  }
});

for (const port of ["9108", "18007", "18008", "18010"])
  test(`its other parts leave the chosen port ${port} free`, limit, async (context) => {
    if (!(await isFree(Number(port)))) return context.skip(`another program uses port ${port}`);
    const { banner } = await startDemo(context, ["--port", port]);
    const [, health = ""] = /^ {2}health checks +(\S+)/m.exec(banner) ?? [];
    assert.equal(health, `http://127.0.0.1:${port}`);
    assert.equal((await fetch(`${health}/primary`)).status, 200);
  });

test(
  "ignores the environment of another rolecall, and sends its commands to its own server",
  limit,
  async (context) => {
    const env = { ROLECALL_LISTEN: "127.0.0.1:1", ROLECALL_SERVER: "http://192.0.2.1:9108" };
    const { banner } = await startDemo(context, ["--port", "0"], env);
    for (const command of commandsOf(banner).filter((line) => line.startsWith("rolecall")))
      assert.match(command, /--server http:\/\/127\.0\.0\.1:\d+$/);
  },
);

test("no line of the banner is longer than 80 columns, with several clusters too", limit, async (context) => {
  for (const args of [[], ["--clusters", "40"]]) {
    const { banner } = await startDemo(context, ["--port", "0", ...args]);
    const long = banner.split("\n").filter((line) => line.length > 80 && !line.startsWith("  alias"));
    assert.deepEqual(long, []);
  }
});

test("listens on loopback only", { ...limit, skip: process.platform !== "linux" }, async (context) => {
  const { running, banner } = await startDemo(context, ["--port", "0", "--clusters", "2"]);
  const addresses = listeningAddresses(running.process.pid ?? 0);
  assert.deepEqual(new Set(addresses.map(({ address }) => address)), new Set(["0100007F"]));
  const ports = new Set([...banner.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port)));
  const open = new Set(addresses.map(({ port }) => port));
  assert.ok([...ports].every((port) => open.has(port)));
  // Two clusters of three nodes, two listeners and the control of the faults.
  assert.equal(open.size, 9);
});

/** Takes a port during a test. It may be taken already, by another program. */
async function takePort(context: TestContext, port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.once("error", () => resolve());
    server.listen(port, "127.0.0.1", resolve);
  });
  context.after(() => void server.close());
}

/** The sockets on which a process listens: the address in hexadecimal as the kernel shows it, and the port. */
function listeningAddresses(pid: number): readonly { readonly address: string; readonly port: number }[] {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
  const rows = ["tcp", "tcp6"].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, "utf8").split("\n"));
  return rows.flatMap((row) => {
    const [, local = "", , state, , , , , , inode = ""] = row.trim().split(/\s+/);
    const [address = "", port = ""] = local.split(":");
    return state === "0A" && links.includes(`socket:[${inode}]`) ? [{ address, port: Number.parseInt(port, 16) }] : [];
  });
}

/** The target of a symbolic link; empty if it is gone meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
