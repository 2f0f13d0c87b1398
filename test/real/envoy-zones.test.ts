/**
 * Real Envoys in zone a that get their endpoints by push, over a simulated cluster with two replicas in zone a and two
 * in zone b: no new session leaves the zone while a replica there is fit, and all do at once when none is.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { startSimulator, type Simulator } from "../../src/tools/simulator/simulator.ts";
import { freePort } from "../fake/free-port.ts";
import { until } from "../fake/until.ts";
import { ask } from "./lab/ask.ts";
import { envoyProgram } from "./lab/balancer-programs.ts";
import { Child } from "./lab/child.ts";
import { EchoDatabase, landings, reached } from "./lab/echo-database.ts";
import { Envoy } from "./lab/envoy.ts";
import { removeAtExit } from "./lab/reaper.ts";
import { program } from "./lab/rolecall.ts";

const zones = { pg1: "a", pg2: "a", pg3: "a", pg4: "b", pg5: "b" };
const [local, remote] = [
  ["pg2", "pg3"],
  ["pg4", "pg5"],
] as const;
const connections = 60;
const poolName = "reads";

for (const age of ["newest", "oldest"] as const) {
  const found = envoyProgram(age);
  const title = `zones of the ${age} Envoy`;
  if ("notRun" in found) test(title, { skip: `not run: ${found.notRun}` }, () => {});
  else describe(title, { timeout: 240_000 }, () => scenarios(found.path));
}

function scenarios(envoyPath: string): void {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-zones-"));
  removeAtExit(folder);
  const databases: EchoDatabase[] = [];
  let simulator: Simulator;
  let rolecall: Child;
  let envoy: Envoy;
  let readPort = 0;

  before(async () => {
    simulator = await startSimulator({ nodes: 5, port: 0, switchoverMs: 500 });
    for (const { name } of simulator.nodes) databases.push(await EchoDatabase.start(name));
    const [health, xds, checkPort] = [await freePort(), await freePort(), await freePort()];
    const adminPort = await freePort();
    readPort = await freePort();
    const config = writeConfiguration({ health, xds, checkPort });
    rolecall = new Child({
      name: "rolecall",
      command: [process.execPath, program, "serve", "--config", config],
      folder,
    });
    await until("ready rolecall", async () => (await ask({ port: health, path: "/readyz" })).status === 200);
    const ports = ["--write-port", readPort, "--check-port", checkPort, "--stats-port", adminPort].map(String);
    const argv = [program, "render", "envoy", "--xds", "--config", config, "--zone", "a", ...ports];
    const { stdout: bootstrap } = await promisify(execFile)(process.execPath, argv, { timeout: 20_000 });
    envoy = await Envoy.start({ name: "envoy", path: envoyPath, bootstrap, adminPort, folder });
    await lists([...local, ...remote]);
    await reaches(local);
  });
  after(async () => {
    await envoy?.stop();
    await rolecall?.stop("SIGTERM", 5);
    for (const database of databases) await database.stop();
    await simulator?.stop();
    rmSync(folder, { recursive: true });
  });

  test("every state in which a local replica is fit keeps all sessions in the zone", async () => {
    const states: readonly (readonly [string, readonly string[], () => Promise<void>])[] = [
      ["pg2 lags", ["pg3"], () => lag("pg2")],
      ["pg2 is back", local, () => heal("pg2")],
      ["pg3 is killed", ["pg2"], () => kill("pg3")],
      ["pg4 of the other zone too", ["pg2"], () => kill("pg4")],
      ["pg3 is back", local, () => heal("pg3")],
      ["pg4 is back", local, () => heal("pg4")],
    ];
    const sessions = new SessionCount(databases);
    for (const [title, wanted, change] of states) {
      const watch = new AbortController();
      const landed: (string | undefined)[] = [];
      const watching = Array.from({ length: 10 }, () => landings(readPort, watch.signal, landed));
      try {
        await change();
        await reaches(wanted, sessions);
      } finally {
        watch.abort();
        await Promise.all(watching);
      }
      sessions.opened += landed.length;
      await sessions.allAccepted(title, evidence);
      assert.equal(sessions.acceptedBy(remote), 0, `${title}: left the zone\n${evidence()}`);
    }
  });

  for (const [title, fault] of [
    ["over their limit", (name: string) => lag(name)],
    ["killed", (name: string) => kill(name)],
  ] as const)
    test(`both local replicas ${title}: all sessions go to the other zone with one change`, async () => {
      const watch = new AbortController();
      const sessions = new SessionCount(databases);
      const landed: (string | undefined)[] = [];
      const watching = landings(readPort, watch.signal, landed);
      try {
        for (const name of local) await fault(name);
        await reaches(remote, sessions);
        await until("a session in the other zone", () => isRemote(landed.at(-1)));
      } finally {
        watch.abort();
        await watching;
      }
      assert.deepEqual(landed.slice(landed.findIndex(isRemote)).filter(isLocal), [], "local ones after remote ones");
      sessions.opened += landed.length;
      await sessions.allAccepted(title, evidence);
      for (const name of local) await heal(name);
      await reaches(local);
    });

  const lag = (name: string): Promise<void> => simulator.fault(name, { kind: "lag", bytes: 64 * 2 ** 20 });
  const kill = (name: string): Promise<void> => simulator.fault(name, { kind: "kill" });
  const heal = (name: string): Promise<void> => simulator.fault(name, { kind: "heal" });
  const evidence = (): string => `${envoy.tail}\n${rolecall.tail}`;

  /** Waits until 60 sessions that are opened at once reach these databases, and asserts that 60 more do. */
  async function reaches(names: readonly string[], sessions = new SessionCount(databases)): Promise<void> {
    const once = async (): Promise<string> => {
      sessions.opened += connections;
      return (await reached(readPort, connections)).join();
    };
    await until(
      { what: `sessions to ${names.join(", ")} alone`, evidence },
      async () => (await once()) === names.join(),
    );
    assert.equal(await once(), names.join(), evidence());
  }

  async function lists(names: readonly string[]): Promise<void> {
    const wanted = databases.filter(({ name }) => names.includes(name)).map(({ port }) => `127.0.0.1:${port} HEALTHY`);
    await until({ what: `the endpoints ${names.join(", ")}`, evidence }, async () => {
      const found = await envoy.endpoints(poolName);
      return found.join() === wanted.toSorted().join();
    });
  }

  function writeConfiguration(ports: {
    readonly health: number;
    readonly xds: number;
    readonly checkPort: number;
  }): string {
    const nodes = simulator.nodes.map(({ name, url }, at) => ({
      name,
      api: url,
      database: `127.0.0.1:${databases[at]?.port}`,
      zone: zones[name as keyof typeof zones], // the simulator names its nodes pg1, pg2, …
    }));
    const config = {
      clusters: [{ name: "demo", nodes }],
      pools: [{ name: poolName, check: "/replica?lag=10MB&lag_time=10s" }],
      listen: [
        { port: ports.health },
        { port: ports.xds, dialect: "xds", xds: { checks: `127.0.0.1:${ports.checkPort}` } },
      ],
    };
    const file = join(folder, "rolecall.yaml");
    writeFileSync(file, JSON.stringify(config)); // JSON is YAML
    return file;
  }
}

/**
 * The sessions that clients open, held against those that databases accept. The names that clients read would not do:
 * a session whose database ends at once may be cut before it reads one, and that is no refusal.
 */
class SessionCount {
  opened = 0;
  readonly #databases: readonly EchoDatabase[];
  readonly #before: ReadonlyMap<string, number>;

  constructor(databases: readonly EchoDatabase[]) {
    this.#databases = databases;
    this.#before = new Map(databases.map(({ name, accepted }) => [name, accepted]));
  }

  acceptedBy(names: readonly string[]): number {
    const counted = this.#databases.filter(({ name }) => names.includes(name));
    return counted.reduce((sum, { name, accepted }) => sum + accepted - (this.#before.get(name) ?? 0), 0);
  }

  /** Waits until databases have accepted every session that was opened: none was refused. */
  async allAccepted(title: string, evidence: () => string): Promise<void> {
    const accepted = (): number => this.acceptedBy([...local, ...remote]);
    await until({ what: `${title}: a database for each of ${this.opened} sessions`, evidence }, () => {
      assert.ok(accepted() <= this.opened, `${accepted()} sessions were accepted, ${this.opened} opened`);
      return accepted() === this.opened;
    });
  }
}

function isLocal(name: string | undefined): boolean {
  return local.some((one) => one === name);
}

function isRemote(name: string | undefined): boolean {
  return remote.some((one) => one === name);
}
