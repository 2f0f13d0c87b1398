/** `cut_sessions` on a real HAProxy: which sessions of an old primary are closed, and which are spared. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, describe, test } from "node:test";
import { App } from "../../src/app/app.ts";
import { clusterOf, configOf, haproxyBackendOf, listenerOf, nodeOf } from "../fake/config.ts";
import { FakeNode } from "../fake/fake-node.ts";
import { portOf } from "../fake/listen.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { until } from "../fake/until.ts";
import { balancerPrograms } from "./lab/balancer-programs.ts";
import { Child } from "./lab/child.ts";
import { ports, requireFree } from "./lab/ports.ts";

const names = ["pg1", "pg2", "pg3"] as const;

for (const { kind, title, found } of balancerPrograms()) {
  if (kind !== "haproxy") continue;
  if ("notRun" in found) test(`cut sessions, ${title}`, { skip: `not run: ${found.notRun}` }, () => {});
  else describe(`cut sessions, ${title}`, { timeout: 120_000 }, () => scenarios(found.path));
}

function scenarios(haproxyPath: string): void {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-cuts-"));
  const socket = join(folder, "admin.sock");
  const nodes = names.map((name) => new FakeNode({ name, holdsLock: name === "pg1" }));
  const sessions = new Set<Socket>();
  let database: Server;
  let haproxy: Child;
  let app: App;

  before(async () => {
    await requireFree([ports.haproxyWrite]);
    database = await openEcho(sessions);
    for (const one of nodes) await one.open();
    haproxy = new Child({ name: "haproxy", command: [haproxyPath, "-db", "-f", configure()], folder });
    await until("HAProxy", async () => (await command("show info")).includes("Pid"));
    const backend = haproxyBackendOf({ name: "write" });
    app = new App(
      configOf({
        clusters: [clusterOf({ nodes: nodes.map(({ name, api }) => nodeOf({ name, api })) })],
        listen: [listenerOf({ wholeCluster: true })],
        balancers: [
          { name: "edge", haproxy: { socket: { path: socket }, zone: null, cutSessions: true, backends: [backend] } },
        ],
      }),
      silentLogger,
    );
    await app.start();
  });
  after(async () => {
    await app?.stop({ drains: false });
    await haproxy?.stop();
    for (const one of nodes) await one.close();
    for (const session of sessions) session.destroy();
    database?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    for (const one of nodes) if (!one.server.listening) await one.open();
    lead("pg1");
    await shows("pg1", "2");
    await shows("pg2", "0");
  });

  test("the sessions of a leader that does not answer go on, also once another one leads", async () => {
    const session = await open();
    await node("pg1").close();
    await shows("pg1", "0");
    await session.works();
    for (const name of ["pg2", "pg3"]) node(name).leader = "pg2";
    await shows("pg2", "2");
    await session.works();
    session.end();
  });

  test("sessions go on while rolecall is blind", async () => {
    const session = await open();
    for (const one of nodes) await one.close();
    await until("a blind rolecall", async () => {
      const reply = await fetch(`http://127.0.0.1:${app.listeners[0]?.port}/nodes/pg1/primary`);
      return reply.status === 500;
    });
    await session.works();
    session.end();
  });

  test("sessions go on while the leader has given up the lock and nobody leads", async () => {
    const session = await open();
    node("pg1").leader = "";
    await shows("pg1", "0");
    await session.works();
    session.end();
  });

  test("the sessions of a demoted leader are closed once another one leads", async () => {
    const session = await open();
    lead("pg2");
    await session.closed;
    await shows("pg2", "2");
  });

  test("the sessions of a superseded leader are closed", async () => {
    const session = await open();
    // pg1 goes on claiming the lock, and everyone else names pg2.
    for (const name of ["pg2", "pg3"]) node(name).leader = "pg2";
    await session.closed;
    await shows("pg2", "2");
  });

  function node(name: string): FakeNode {
    const found = nodes.find((one) => one.name === name);
    assert.ok(found !== undefined);
    return found;
  }

  function lead(leader: string): void {
    for (const one of nodes) {
      one.members = new Map(nodes.map(({ name, api }) => [name, api]));
      one.leader = leader;
    }
  }

  /** Waits until HAProxy has a server in this operational state: 2 is up, 0 is down. */
  async function shows(server: string, state: string): Promise<void> {
    let last = "";
    await until({ what: `state ${state} of ${server}`, evidence: () => `${last}\n${haproxy.tail}` }, async () => {
      last = await command("show servers state write");
      return last.split("\n").some((line) => line.split(" ")[3] === server && line.split(" ")[5] === state);
    });
  }

  async function command(line: string): Promise<string> {
    const connection = connect(socket);
    connection.setTimeout(2_000, () => connection.destroy(new Error("HAProxy's socket is silent")));
    connection.end(`${line}\n`);
    return text(connection).catch(() => ""); // not there yet
  }

  /** HAProxy checks only once, so that nothing but rolecall changes a server. */
  function configure(): string {
    const file = join(folder, "haproxy.cfg");
    const servers = names.map((name) => `  server ${name} 127.0.0.1:${portOf(database)} check inter 60s`);
    const lines = [
      "global",
      `  stats socket ${socket} mode 600 level admin`,
      "defaults",
      "  mode tcp",
      "  timeout connect 2s",
      "  timeout client 1h",
      "  timeout server 1h",
      "listen write",
      `  bind 127.0.0.1:${ports.haproxyWrite}`,
      ...servers,
    ];
    writeFileSync(file, `${lines.join("\n")}\n`);
    return file;
  }
}

/** A session through the pool. */
interface Session {
  /** Resolves once the session is closed. */
  readonly closed: Promise<void>;
  /** Sends something, and waits until it comes back. */
  works(): Promise<void>;
  end(): void;
}

async function open(): Promise<Session> {
  const socket = connect(ports.haproxyWrite, "127.0.0.1");
  let received = "";
  let sent = 0;
  socket.on("data", (chunk: Buffer) => (received += chunk.toString())).on("error", () => {});
  const closed = new Promise<void>((resolve) => void socket.on("close", () => resolve()));
  const session = {
    closed,
    works: async (): Promise<void> => {
      sent += 1;
      const wanted = `<${sent}>`;
      socket.write(wanted);
      await until("an echo", () => {
        if (socket.destroyed) throw new Error("the session was closed");
        return received.includes(wanted);
      });
    },
    end: () => void socket.destroy(),
  };
  await session.works();
  return session;
}

/** A server that sends back what it receives. */
async function openEcho(sessions: Set<Socket>): Promise<Server> {
  const server = createServer((session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session)).on("error", () => {});
    session.pipe(session);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return server;
}
