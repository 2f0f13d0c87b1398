/**
 * Real HAProxys in zone a, over a simulated cluster with two replicas in zone a and two in zone b: no new session
 * leaves the zone while a replica there is fit, and all do at once when none is. One HAProxy has the rendered
 * configuration (`render haproxy --zone a`), one the same with pushes, and one checks with `zone=a` and is pushed to.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { startSimulator, type Simulator } from "../../src/tools/simulator/simulator.ts";
import { freePort } from "../fake/free-port.ts";
import { until } from "../fake/until.ts";
import { ask } from "./lab/ask.ts";
import { balancerPrograms } from "./lab/balancer-programs.ts";
import { Child } from "./lab/child.ts";
import { EchoDatabase, landings, reached } from "./lab/echo-database.ts";
import { program } from "./lab/rolecall.ts";

const zones = { pg1: "a", pg2: "a", pg3: "a", pg4: "b", pg5: "b" };
const [local, remote] = [
  ["pg2", "pg3"],
  ["pg4", "pg5"],
] as const;
const connections = 60;

for (const { kind, title, found } of balancerPrograms()) {
  if (kind !== "haproxy") continue;
  if ("notRun" in found) test(`zones of ${title}`, { skip: `not run: ${found.notRun}` }, () => {});
  else describe(`zones of ${title}`, { timeout: 240_000 }, () => scenarios(found.path));
}

interface Pool {
  readonly title: string;
  readonly readPort: number;
  readonly child: Child;
}

function scenarios(haproxyPath: string): void {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-zones-"));
  const databases: EchoDatabase[] = [];
  const children: Child[] = [];
  const pools: Pool[] = [];
  let simulator: Simulator;
  let health = 0;

  before(async () => {
    simulator = await startSimulator({ nodes: 5, port: 0, switchoverMs: 500 });
    for (const { name } of simulator.nodes) databases.push(await EchoDatabase.start(name));
    health = await freePort();
    const { served, rendered } = writeConfigurations();
    start("rolecall", [process.execPath, program, "serve", "--config", served]);
    await until("ready rolecall", async () => (await ask({ port: health, path: "/readyz" })).status === 200);
    await startRendered("rendered", rendered, []);
    await startRendered("rendered and pushed", rendered, ["--runtime-socket", socketOf("rendered and pushed")]);
    await startChecked("zone=a and pushed");
    await until("a connection to both sockets", () => log("rolecall").split("balancer connected").length === 3);
    await reaching([...local]);
  });
  after(async () => {
    for (const child of children.toReversed()) await child.stop("SIGTERM", 5);
    for (const database of databases) await database.stop();
    await simulator?.stop();
    rmSync(folder, { recursive: true });
  });

  test("every state in which a local replica is fit keeps all sessions in the zone", async () => {
    await allReach([...local]);
    await simulator.fault("pg2", { kind: "lag", bytes: 64 * 2 ** 20 });
    await reaching(["pg3"]);
    await allReach(["pg3"]);
    await simulator.fault("pg2", { kind: "heal" });
    await reaching([...local]);
    await simulator.fault("pg3", { kind: "kill" });
    await reaching(["pg2"]);
    await allReach(["pg2"]);
    await simulator.fault("pg4", { kind: "kill" });
    await allReach(["pg2"]);
    for (const name of ["pg3", "pg4"]) await simulator.fault(name, { kind: "heal" });
    await reaching([...local]);
    await allReach([...local]);
  });

  test("both local replicas over their limit: all sessions go to the other zone", async () => {
    for (const name of local) await simulator.fault(name, { kind: "lag", bytes: 64 * 2 ** 20 });
    await reaching([...remote]);
    await allReach([...remote]);
    for (const name of local) await simulator.fault(name, { kind: "heal" });
    await reaching([...local]);
  });

  test("both local replicas killed: all sessions go to the other zone, with a push at once", async () => {
    const watch = new AbortController();
    const landed = pools.map((): (string | undefined)[] => []);
    const ends = pools.map(({ readPort }, at) => landings(readPort, watch.signal, landed[at]));
    const firstRemote: number[] = [];
    try {
      for (const name of local) await simulator.fault(name, { kind: "kill" });
      await until({ what: "the verdict", seconds: 20 }, async () => (await zoneCheck("pg4")) === 200);
      const decidedAtMs = performance.now();
      await until({ what: "sessions in the other zone", seconds: 20 }, () => {
        for (const [at, names] of landed.entries())
          if (names.includes("pg4") || names.includes("pg5")) firstRemote[at] ??= performance.now() - decidedAtMs;
        return pools.every((_, at) => firstRemote[at] !== undefined);
      });
    } finally {
      watch.abort();
      await Promise.all(ends);
    }
    // Without a push HAProxy follows after `fall` checks: 3 of them, 500 ms apart.
    console.log(pools.map(({ title }, at) => `${title}: ${Math.round(firstRemote[at] ?? NaN)} ms`).join(", "));
    await allReach([...remote]);
    for (const name of local) await simulator.fault(name, { kind: "heal" });
    await reaching([...local]);
    await allReach([...local]);
  });

  function zoneCheck(node: string): Promise<number> {
    return ask({ port: health, path: `/nodes/${node}/replica?zone=a` }).then(({ status }) => status);
  }

  /** Opens 60 sessions at once through each HAProxy, and asserts which databases they reach. */
  async function allReach(names: readonly string[]): Promise<void> {
    for (const { title, readPort, child } of pools)
      assert.deepEqual(await reached(readPort, connections), names, `${title}\n${child.tail}`);
  }

  async function reaching(names: readonly string[]): Promise<void> {
    for (const { title, readPort, child } of pools) {
      const wait = { what: `${title} to reach ${names.join(", ")}`, seconds: 30, evidence: () => child.tail };
      await until(wait, async () => (await reached(readPort, connections)).join() === names.join());
    }
  }

  /** The configuration of the service, and one without pools to render from: a write and a read pool, as by default. */
  function writeConfigurations(): { readonly served: string; readonly rendered: string } {
    const nodes = simulator.nodes.map(({ name, url }, at) => ({
      name,
      api: url,
      database: `127.0.0.1:${databases[at]?.port}`,
      zone: zones[name as keyof typeof zones], // the simulator names its nodes pg1, pg2, …
    }));
    const check = "/replica?lag=10MB&lag_time=10s&keep=1&miss=404";
    const balancers = [
      { haproxy: { socket: socketOf("rendered and pushed"), backends: [{ name: "demo_read", check }] } },
      { haproxy: { socket: socketOf("zone=a and pushed"), zone: "a", backends: [{ name: "reads", pool: "reads" }] } },
    ];
    const pooled = { name: "reads", check: "/replica?lag=10MB&lag_time=10s&miss=404", min: 1 };
    const rendered = { clusters: [{ name: "demo", nodes }], listen: [{ port: health }] };
    const write = (name: string, config: object): string => {
      const file = join(folder, name);
      writeFileSync(file, JSON.stringify(config)); // JSON is YAML
      return file;
    };
    return {
      served: write("rolecall.yaml", { ...rendered, pools: [pooled], balancers }),
      rendered: write("rendered.yaml", rendered),
    };
  }

  async function startRendered(title: string, config: string, more: readonly string[]): Promise<void> {
    const [writePort, readPort, checkPort] = [await freePort(), await freePort(), await freePort()];
    const ports = [
      "--write-port",
      writePort,
      "--read-port",
      readPort,
      "--check-port",
      checkPort,
      "--stats-port",
      "none",
    ].map(String);
    const argv = [program, "render", "haproxy", "--config", config, "--edge", `127.0.0.1:${health}`, "--zone", "a"];
    const { stdout } = await promisify(execFile)(process.execPath, [...argv, ...more, "--bare", ...ports], {
      timeout: 20_000,
    });
    startHaproxy(title, readPort, stdout);
  }

  /** Every server is an active one: the checks decide on the zone, and rolecall pushes what they say. */
  async function startChecked(title: string): Promise<void> {
    const readPort = await freePort();
    const servers = databases.map(({ name, port }) => `  server ${name} 127.0.0.1:${port}`);
    const path = "/nodes/%[srv_name]/replica?lag=10MB&lag_time=10s&keep=1&miss=404&zone=a";
    startHaproxy(
      title,
      readPort,
      `global
  stats socket ${socketOf(title)} mode 600 level admin
defaults
  mode tcp
  timeout connect 2s
  timeout client 1m
  timeout server 1m
frontend f
  bind 127.0.0.1:${readPort}
  default_backend reads
backend reads
  balance leastconn
  option httpchk
  http-check send meth GET uri-lf ${path} ver HTTP/1.1 hdr Host rolecall
  http-check expect status 200
  http-check disable-on-404
  default-server check addr 127.0.0.1 port ${health} inter 500ms rise 2 fall 3 on-marked-down shutdown-sessions
${servers.join("\n")}
`,
    );
  }

  function startHaproxy(title: string, readPort: number, text: string): void {
    const file = join(folder, `${nameOf(title)}.cfg`);
    writeFileSync(file, text);
    pools.push({ title, readPort, child: start(nameOf(title), [haproxyPath, "-db", "-f", file]) });
  }

  function start(name: string, command: readonly [string, ...string[]]): Child {
    const child = new Child({ name, command, folder });
    children.push(child);
    return child;
  }

  function socketOf(title: string): string {
    return join(folder, `${nameOf(title)}.sock`);
  }

  function log(name: string): string {
    return readFileSync(join(folder, `${name}.log`), "utf8");
  }
}

function nameOf(title: string): string {
  return title.replaceAll(/\W+/g, "-");
}
