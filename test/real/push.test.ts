/**
 * HAProxy with servers that rolecall sets over the Runtime API, over a simulated cluster. HAProxy checks the simulated
 * nodes themselves, so its checks go on without rolecall.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { balancerPrograms } from "./lab/balancer-programs.ts";
import { Child } from "./lab/child.ts";
import { ports, requireFree } from "./lab/ports.ts";
import { program } from "./lab/rolecall.ts";
import { until } from "../fake/until.ts";

const names = ["pg1", "pg2", "pg3"] as const;
/** HAProxy's checks: `inter` in s, and `fall` and `rise`. */
const inter = 2;
const count = 2;

for (const { kind, title, found } of balancerPrograms()) {
  if (kind !== "haproxy" || title !== "HAProxy 2.6") continue;
  if ("notRun" in found) test(`push to ${title}`, { skip: `not run: ${found.notRun}` }, () => {});
  else describe(`push to ${title}`, { timeout: 180_000 }, () => scenarios(found.path));
}

function scenarios(haproxyPath: string): void {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-push-"));
  const socket = join(folder, "admin.sock");
  const databases: Server[] = [];
  const sessions = new Set<Socket>();
  const children: Child[] = [];
  let haproxy: Child;
  let starts = 0;

  before(async () => {
    await requireFree([ports.api - 1, ports.api, ports.rolecallAdmin, ports.rolecall2Admin, ports.haproxyWrite]);
    for (const _ of names) databases.push(await openDatabase(sessions));
    start("simulator", [
      process.execPath,
      program,
      "demo",
      "cluster",
      "--port",
      String(ports.api),
      "--switchover",
      "500",
    ]);
    await until("the simulator", async () => (await post("/sim/heal")) === 200);
    haproxy = start("haproxy", [haproxyPath, "-db", "-f", configure()]);
    await until("HAProxy", async () => (await states()).get("pg1") === "2");
    await startRolecall(1);
    await settled("pg1");
  });
  after(async () => {
    for (const child of children.toReversed()) await child.stop("SIGTERM", 5);
    for (const session of sessions) session.destroy();
    for (const database of databases) database.close();
    rmSync(folder, { recursive: true });
  });

  test("sets the new primary before HAProxy's next checks, and closes the sessions of the old one", async () => {
    const session = connect(ports.haproxyWrite, "127.0.0.1");
    const closed = new Promise<void>((resolve) => void session.on("close", () => resolve()).on("error", () => {}));
    await until("a session at the old primary", () => sessions.size === 1);
    await switchOver("pg1", "pg2");
    await settled("pg2");
    await closed;
    assert.match(logOf("haproxy-1"), /write\/pg2 is UP, changed from CLI/);
    const durations = [...logOf("rolecall1").matchAll(/"server":"(\w+)".*"duration_ms":(\d+)/g)];
    console.log(
      `verdict change to HAProxy's answer: ${durations.map(([, name, ms]) => `${name} ${ms} ms`).join(", ")}`,
    );
  });

  test("logs a wrong backend name once", () => {
    assert.equal(logOf("rolecall1").split("HAProxy has no backend of this name").length - 1, 1);
  });

  test("sets the servers of a new process after a reload of HAProxy", async () => {
    const old = haproxy;
    haproxy = start("haproxy", [haproxyPath, "-db", "-f", join(folder, "haproxy.cfg"), "-sf", String(old.pid)]);
    await until("an update by rolecall", () => /has a new process/.test(logOf("rolecall1")));
    await until("the end of the old process", () => !old.isRunning);
    await settled("pg2");
  });

  test("leaves a server in maintenance alone", async () => {
    await command("set server write/pg3 state maint");
    await switchOver("pg2", "pg3");
    await until("no primary but the one in maintenance", async () => (await states()).get("pg2") === "0");
    await until("the push that is left out", async () => /outcome="reserved"\} [1-9]/.test(await metrics()));
    assert.equal((await columns("pg3"))["srv_admin_state"], "1");
    await command("set server write/pg3 state ready");
    await settled("pg3");
  });

  test("two instances agree: each server changes once in a switchover", async () => {
    await startRolecall(2);
    await settled("pg3");
    const written = logOf(`haproxy-${starts}`).length;
    await switchOver("pg3", "pg1");
    await settled("pg1");
    const changes = [
      ...logOf(`haproxy-${starts}`)
        .slice(written)
        .matchAll(/Server write\/(\w+) is (UP|DOWN)/g),
    ];
    assert.deepEqual(changes.map(([, name, state]) => `${name} ${state}`).sort(), ["pg1 UP", "pg3 DOWN"]);
    await children.at(-1)?.stop();
  });

  test("HAProxy is as its checks would have it within fall x inter after kill -9 in a failover", async () => {
    const rolecall = children.find((child) => child.isRunning && child.tail.includes("rolecall1"));
    assert.ok(rolecall !== undefined);
    await switchOver("pg1", "pg2");
    await until("the first change of the failover", async () => (await states()).get("pg1") === "0");
    await rolecall.stop("SIGKILL");
    // The worst that could have been pushed: the old primary is up, and the new one down.
    await command("set server write/pg1 health up");
    await command("set server write/pg2 health down");
    await settled("pg2", (count + 1) * inter + 2);
  });

  function start(name: string, line: readonly [string, ...string[]]): Child {
    starts += name === "haproxy" ? 1 : 0;
    const child = new Child({ name: name === "haproxy" ? `haproxy-${starts}` : name, command: line, folder });
    children.push(child);
    return child;
  }

  async function startRolecall(number: 1 | 2): Promise<void> {
    const file = join(folder, `rolecall${number}.yaml`);
    const admin = number === 1 ? ports.rolecallAdmin : ports.rolecall2Admin;
    const backends = [
      { name: "write", check: "/primary" },
      { name: "nope", check: "/replica" },
    ];
    const configuration = {
      clusters: [{ name: "demo", discover: [`http://127.0.0.1:${ports.api}`] }],
      listen: [{ port: admin, dialect: "admin" }],
      balancers: [{ haproxy: { socket, cut_sessions: true, backends } }],
    };
    writeFileSync(file, JSON.stringify(configuration)); // JSON is YAML
    start(`rolecall${number}`, [process.execPath, program, "serve", "--config", file]);
    await until(`ready rolecall ${number}`, async () => {
      const ready = await fetch(`http://127.0.0.1:${admin}/readyz`).catch(() => null); // not there yet
      return ready?.status === 200 && /balancer connected/.test(logOf(`rolecall${number}`));
    });
  }

  function configure(): string {
    const file = join(folder, "haproxy.cfg");
    const servers = names.map((name, at) => {
      const address = databases[at]?.address() as AddressInfo | undefined; // a listening TCP server
      return `  server ${name} 127.0.0.1:${address?.port ?? 0} check port ${ports.api + at}`;
    });
    writeFileSync(
      file,
      `global
  stats socket ${socket} mode 600 level admin
defaults
  mode tcp
  timeout connect 2s
  timeout client 1m
  timeout server 1m
  timeout check 1s
frontend writes
  bind 127.0.0.1:${ports.haproxyWrite}
  default_backend write
backend write
  option httpchk GET /primary
  http-check expect status 200
  default-server inter ${inter}s fall ${count} rise ${count}
${servers.join("\n")}
`,
    );
    return file;
  }

  /** Waits until this node alone is up in HAProxy. */
  async function settled(primary: string, seconds = 15): Promise<void> {
    const wanted = names.map((name) => `${name} ${name === primary ? "2" : "0"}`).join(", ");
    await until({ what: wanted, seconds, evidence: () => children.map(({ tail }) => tail).join("\n") }, async () => {
      const found = [...(await states())].map(([name, state]) => `${name} ${state}`);
      return found.join(", ") === wanted;
    });
  }

  /** The operational state of each server: 2 is up, 0 is down. */
  async function states(): Promise<ReadonlyMap<string, string | undefined>> {
    const rows = await Promise.all(names.map((name) => columns(name)));
    return new Map(rows.map((row, at) => [names[at] ?? "", row["srv_op_state"]]));
  }

  async function columns(server: string): Promise<Readonly<Record<string, string>>> {
    const lines = (await command("show servers state write")).split("\n");
    const head =
      lines
        .find((line) => line.startsWith("# "))
        ?.slice(2)
        .split(" ") ?? [];
    const cells = lines.find((line) => line.split(" ")[3] === server)?.split(" ") ?? [];
    return Object.fromEntries(head.map((name, at) => [name, cells[at] ?? ""]));
  }

  async function command(line: string): Promise<string> {
    const connection = connect(socket);
    connection.setTimeout(2_000, () => connection.destroy(new Error("HAProxy's socket is silent")));
    connection.end(`${line}\n`);
    return text(connection).catch(() => ""); // not there yet
  }

  function logOf(name: string): string {
    return readFileSync(join(folder, `${name}.log`), "utf8");
  }

  async function metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${ports.rolecallAdmin}/metrics`)).text();
  }

  async function post(path: string): Promise<number | undefined> {
    return fetch(`http://127.0.0.1:${ports.api - 1}${path}`, { method: "POST" }).then(
      ({ status }) => status,
      () => undefined, // not there yet
    );
  }
}

async function switchOver(leader: string, candidate: string): Promise<void> {
  const at = names.findIndex((name) => name === leader);
  const response = await fetch(`http://127.0.0.1:${ports.api + at}/switchover`, {
    method: "POST",
    body: JSON.stringify({ leader, candidate }),
  });
  assert.equal(response.status, 200, await response.text());
}

/** A server that accepts sessions and keeps them. */
async function openDatabase(sessions: Set<Socket>): Promise<Server> {
  const server = createServer((session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session)).on("error", () => {});
    session.resume();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return server;
}
