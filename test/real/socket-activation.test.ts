/**
 * The restart of the only rolecall behind a real HAProxy that checks it directly: with sockets that systemd holds, it
 * cuts no session.
 */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startSimulator } from "../../src/tools/simulator/simulator.ts";
import { freePort } from "../fake/free-port.ts";
import { until } from "../fake/until.ts";
import { Child } from "./lab/child.ts";
import { EchoDatabase, EchoSession } from "./lab/echo-database.ts";
import { removeAtExit } from "./lab/reaper.ts";
import { SocketActivated } from "./lab/socket-activated.ts";

const missing = ["/usr/bin/systemd-socket-activate", "/usr/sbin/haproxy"].find((path) => !existsSync(path));
const skip = missing === undefined ? false : `not run: ${missing} is missing`;

describe("socket activation under HAProxy, rise 3 fall 2 inter 500ms", { skip, timeout: 90_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-sockets-"));
  const stops: (() => Promise<unknown>)[] = [];
  let rolecall: SocketActivated;
  let pools: { readonly write: number; readonly read: number };

  before(async () => {
    removeAtExit(folder);
    const simulator = await startSimulator({ nodes: 3, port: 0 });
    stops.unshift(() => simulator.stop());
    const nodes: { readonly name: string; readonly api: string; readonly database: string }[] = [];
    for (const { name, url } of simulator.nodes) {
      const database = await EchoDatabase.start(name);
      stops.unshift(() => database.stop());
      nodes.push({ name, api: url, database: `127.0.0.1:${database.port}` });
    }
    const ports = { health: await freePort(), admin: await freePort() };
    rolecall = new SocketActivated(folder, ports, [{ name: "demo", nodes }]);
    stops.unshift(() => rolecall.stop());
    pools = { write: await freePort(), read: await freePort() };
    const file = join(folder, "haproxy.cfg");
    writeFileSync(file, haproxyConfig(pools, ports.health, nodes));
    const haproxy = new Child({ name: "haproxy", command: ["/usr/sbin/haproxy", "-db", "-f", file], folder });
    stops.unshift(() => haproxy.stop("SIGKILL"));
    const evidence = (): string => `${haproxy.tail}\n${rolecall.tail}`;
    await rolecall.ready();
    // HAProxy begins with every server up.
    await until({ what: "writes to pg1 and reads from the others", seconds: 20, evidence }, async () => {
      const writes = [await databaseAt(pools.write), await databaseAt(pools.write), await databaseAt(pools.write)];
      const reads = [await databaseAt(pools.read), await databaseAt(pools.read), await databaseAt(pools.read)];
      return writes.every((name) => name === "pg1") && !reads.includes("pg1") && !reads.includes(undefined);
    });
  });
  after(async () => {
    for (const stop of stops) await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const name of ["SIGTERM", "SIGKILL"] as const)
    test(`a restart after ${name} cuts no session, and new ones reach the primary`, async () => {
      const sessions: EchoSession[] = [];
      for (const port of [pools.write, pools.write, pools.read, pools.read]) {
        const session = await EchoSession.open(port);
        assert.ok(session !== undefined, `port ${port} reaches a database`);
        sessions.push(session);
      }
      const tookMs = await rolecall.restart(name);
      await sleep(2_500); // every server was checked at least twice since
      console.log(`restart after ${name}: ready again after ${Math.round(tookMs)} ms`);
      assert.deepEqual(
        sessions.filter(({ isCut }) => isCut).map(({ database }) => database),
        [],
      );
      for (const session of sessions) session.close();
      assert.equal(await databaseAt(pools.write), "pg1");
    });
});

/** The database that a new session reaches; `undefined` if it reaches none. */
async function databaseAt(port: number): Promise<string | undefined> {
  const session = await EchoSession.open(port);
  session?.close();
  return session?.database;
}

/** The two lines of docs/operations.md: the limit of a check that outlasts a restart, and the pace of the checks. */
function documentedLines(): readonly [string, string] {
  const found = /^```text\n(timeout check \S+)\n(default-server check .*)\n```$/m.exec(
    readFileSync(join("docs", "operations.md"), "utf8"),
  );
  const [, timeout, pace] = found ?? [];
  if (timeout === undefined || pace === undefined)
    throw new Error("Cannot read docs/operations.md: it must have the lines for HAProxy");
  return [timeout, pace];
}

/** Checks of one rolecall as many people write them, with the lines of the documents. */
function haproxyConfig(
  pools: { readonly write: number; readonly read: number },
  checkPort: number,
  nodes: readonly { readonly name: string; readonly database: string }[],
): string {
  const [timeout, pace] = documentedLines();
  const pool = (name: string, port: number, route: string): string => `
listen ${name}
  bind 127.0.0.1:${port}
  option httpchk
  http-check send meth GET uri-lf /clusters/demo/nodes/%[srv_name]${route} ver HTTP/1.1 hdr Host rolecall
  http-check expect status 200
  ${pace.replace("check", `check addr 127.0.0.1 port ${checkPort}`)}
${nodes.map((node) => `  server ${node.name} ${node.database}`).join("\n")}
`;
  return `defaults
  mode tcp
  timeout connect 2s
  timeout client 1m
  timeout server 1m
  ${timeout}
${pool("write", pools.write, "/primary")}${pool("read", pools.read, "/replica")}`;
}
