/**
 * A real HAProxy, with a rendered configuration, whose backends follow the members of a cluster: nodes join and leave,
 * HAProxy is reloaded, and rolecall is killed.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { parse } from "yaml";
import { FakeNode } from "../fake/fake-node.ts";
import { freePort } from "../fake/free-port.ts";
import { until } from "../fake/until.ts";
import { ask } from "./lab/ask.ts";
import { balancerPrograms } from "./lab/balancer-programs.ts";
import { Child } from "./lab/child.ts";
import { EchoDatabase, EchoSession, landings } from "./lab/echo-database.ts";
import { program } from "./lab/rolecall.ts";

for (const { kind, title, found } of balancerPrograms()) {
  if (kind !== "haproxy") continue;
  if ("notRun" in found) test(`follow members, ${title}`, { skip: `not run: ${found.notRun}` }, () => {});
  else describe(`follow members, ${title}`, { timeout: 180_000 }, () => scenarios(found.path));
}

function scenarios(haproxyPath: string): void {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-follow-members-"));
  const socket = join(folder, "admin.sock");
  const nodes = ["pg1", "pg2", "pg3"].map((name) => new FakeNode({ name, holdsLock: name === "pg1" }));
  const databases = new Map<string, EchoDatabase>();
  const children: Child[] = [];
  let port = { node: 0, admin: 0, write: 0, read: 0, check: 0 };
  let haproxy: Child;
  let rolecall: Child;

  before(async () => {
    for (const node of nodes) {
      await node.open();
      databases.set(node.name, await EchoDatabase.start(node.name));
    }
    list("pg1", "pg2");
    port = {
      node: await freePort(),
      admin: await freePort(),
      write: await freePort(),
      read: await freePort(),
      check: await freePort(),
    };
    configure([]);
    const rendered = await render();
    writeFileSync(join(folder, "haproxy.cfg"), rendered);
    configure(balancersIn(rendered));
    rolecall = startRolecall();
    // HAProxy uses its fallback for 2.5 s after it has found no rolecall ready.
    await until("a ready rolecall", async () => (await ask({ port: port.node, path: "/readyz" })).status === 200);
    haproxy = start("haproxy", [haproxyPath, "-db", "-f", join(folder, "haproxy.cfg")]);
    await shows("demo_write", { pg1: "2", pg2: "0" });
    await shows("demo_read", { pg1: "3", pg2: "2" });
  });
  after(async () => {
    for (const child of children.toReversed()) await child.stop("SIGKILL");
    for (const node of nodes) await node.close();
    for (const database of databases.values()) await database.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("a node that joins and starts gets no session", async () => {
    const watch = new AbortController();
    const landed = [port.read, port.write].map((opened) => landings(opened, watch.signal));
    setFields("pg3", { state: "starting" });
    list("pg1", "pg2", "pg3");
    await shows("demo_read", { pg1: "3", pg2: "2", pg3: "0" });
    await shows("demo_write", { pg1: "2", pg2: "0", pg3: "0" });
    await sleep(2_000); // its checks go on
    watch.abort();
    const [reads = [], writes = []] = await Promise.all(landed);
    assert.ok(reads.includes("pg2") && !reads.includes("pg3"), `reads reach ${reads.join(", ")}`);
    assert.ok(writes.includes("pg1") && !writes.includes("pg3"), `writes reach ${writes.join(", ")}`);
    console.log(`${reads.length} reads and ${writes.length} writes while a node joined that is not fit`);
  });

  test("once it is fit it gets reads, and no writes", async () => {
    const fitMs = performance.now();
    setFields("pg3", {});
    await until("reads at the new node", async () => (await reached(port.read)) === "pg3");
    console.log(`${Math.round(performance.now() - fitMs)} ms from its state to the first session`);
    await shows("demo_write", { pg1: "2", pg2: "0", pg3: "0" });
    assert.equal(await reached(port.write), "pg1");
    const lines = rolecall.log.split("\n").filter((line) => line.includes(`"server":"pg3"`));
    assert.match(lines[0] ?? "", /balancer's server added/);
  });

  test("its own checks decide while no rolecall pushes: it is down once they fail, and up again after them", async () => {
    await rolecall.stop("SIGKILL");
    // The checks go through rolecall: without any they get a 404, which ends new sessions alone.
    await shows("demo_read", { pg1: "3", pg2: "3", pg3: "3" });
    rolecall = startRolecall();
    await shows("demo_read", { pg1: "3", pg2: "2", pg3: "2" });
    assert.doesNotMatch(rolecall.log, /balancer's server/, "it recognises what was added before");
  });

  test("a new process of HAProxy, which has lost the server, gets it again", async () => {
    const old = haproxy;
    haproxy = start("haproxy2", [haproxyPath, "-db", "-f", join(folder, "haproxy.cfg"), "-sf", String(old.pid)]);
    await until("the end of the old process", () => !old.isRunning);
    await shows("demo_read", { pg1: "3", pg2: "2", pg3: "2" });
    await shows("demo_write", { pg1: "2", pg2: "0", pg3: "0" });
  });

  test("it becomes the primary, and gets the writes", async () => {
    lead("pg3");
    await shows("demo_write", { pg1: "0", pg2: "0", pg3: "2" });
    // For 2.5 s after its start HAProxy uses the fallback, which has no pg3 here: each node has another API port.
    await until("a write at the new node", async () => (await reached(port.write)) === "pg3");
    lead("pg1");
    await shows("demo_write", { pg1: "2", pg2: "0", pg3: "0" });
    await shows("demo_read", { pg1: "3", pg2: "2", pg3: "2" });
  });

  test("its database moves: the server gets the other address", async () => {
    const moved = await EchoDatabase.start("pg3, moved");
    const former = databases.get("pg3");
    databases.set("pg3", moved);
    list("pg1", "pg2", "pg3");
    await until("sessions at the other address", async () => (await reached(port.read)) === "pg3, moved");
    await former?.stop();
  });

  test("a node that leaves loses its server, and no server of the file goes", async () => {
    await nodes[2]?.close();
    list("pg1", "pg2");
    await shows("demo_read", { pg1: "3", pg2: "2" });
    await shows("demo_write", { pg1: "2", pg2: "0" });
    await nodes[1]?.close();
    list("pg1");
    await shows("demo_read", { pg1: "3", pg2: "0" });
    assert.equal(await reached(port.write), "pg1");
    assert.doesNotMatch(rolecall.log, /has no server/, "a node that has left lacks no server");
  });

  test("it comes back under its name", async () => {
    await nodes[1]?.open();
    await nodes[2]?.open();
    list("pg1", "pg2", "pg3");
    await shows("demo_read", { pg1: "3", pg2: "2", pg3: "2" });
  });

  /** The members that every list has. */
  function list(...names: readonly string[]): void {
    for (const node of nodes) {
      node.members = new Map(nodes.filter(({ name }) => names.includes(name)).map(({ name, api }) => [name, api]));
      node.databases = new Map([...databases].map(([name, database]) => [name, database.port]));
      node.leader = "pg1";
    }
  }

  function setFields(name: string, fields: FakeNode["fields"]): void {
    for (const node of nodes) if (node.name === name) node.fields = fields;
  }

  function lead(leader: string): void {
    for (const node of nodes) node.leader = leader;
  }

  function configure(balancers: unknown): void {
    const configuration = {
      clusters: [{ name: "demo", discover: [nodes[0]?.api] }],
      listen: [{ port: port.node }, { port: port.admin, dialect: "admin" }],
      probe: { interval: "500ms", timeout: "500ms" },
      balancers,
    };
    writeFileSync(join(folder, "rolecall.yaml"), JSON.stringify(configuration)); // JSON is YAML
  }

  async function render(): Promise<string> {
    const options = [
      "--write-port",
      port.write,
      "--read-port",
      port.read,
      "--check-port",
      port.check,
      "--stats-port",
      "none",
    ].map(String);
    const argv = [program, "render", "haproxy", "--config", join(folder, "rolecall.yaml"), "--bare", ...options];
    const all = [...argv, "--runtime-socket", socket, "--follow-members"];
    const { stdout } = await promisify(execFile)(process.execPath, all, { timeout: 20_000 });
    return stdout;
  }

  function start(name: string, line: readonly [string, ...string[]]): Child {
    const child = new Child({ name, command: line, folder });
    children.push(child);
    return child;
  }

  function startRolecall(): Child {
    const file = join(folder, "rolecall.yaml");
    return start(`rolecall${children.length}`, [process.execPath, program, "serve", "--config", file]);
  }

  /** Waits until a backend has exactly these servers, in these operational states: 2 up, 3 drained, 0 down. */
  async function shows(backend: string, wanted: Readonly<Record<string, string>>): Promise<void> {
    let last: Readonly<Record<string, string | undefined>> = {};
    const evidence = (): string => `${JSON.stringify(last)}\n${children.map(({ tail }) => tail).join("\n")}`;
    await until({ what: `${backend} as ${JSON.stringify(wanted)}`, seconds: 20, evidence }, async () => {
      const rows = (await command(`show servers state ${backend}`)).split("\n").map((line) => line.split(" "));
      const servers = rows.filter(([, name]) => name === backend);
      last = Object.fromEntries(servers.map(([, , , server = "", , state]) => [server, state]));
      return JSON.stringify(last) === JSON.stringify(wanted);
    });
  }

  async function command(line: string): Promise<string> {
    const connection = connect(socket);
    connection.setTimeout(2_000, () => connection.destroy(new Error("HAProxy's socket is silent")));
    connection.end(`${line}\n`);
    return text(connection).catch(() => ""); // not there yet
  }
}

/** The database that a new session reaches. */
async function reached(port: number): Promise<string | undefined> {
  const session = await EchoSession.open(port);
  session?.close();
  return session?.database;
}

/** The section of rolecall's configuration, which the rendered file has as a comment. */
function balancersIn(rendered: string): unknown {
  const lines = rendered.split("\n").filter((line) => /^# (?:balancers:|  )/.test(line));
  const section: unknown = parse(lines.map((line) => line.slice(2)).join("\n"));
  assert.ok(typeof section === "object" && section !== null && "balancers" in section);
  return section.balancers;
}
