/**
 * Load balancers that run rendered configurations, unchanged, in front of a simulated cluster whose databases are
 * {@link EchoDatabase}s, with two instances of rolecall. Every balancer runs twice: with both instances (`--edge`
 * twice), and with the first alone.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ask } from "./ask.ts";
import type { BalancerProgram } from "./balancer-programs.ts";
import { Child } from "./child.ts";
import { EchoDatabase, reached } from "./echo-database.ts";
import { freeze } from "./freeze.ts";
import { program } from "./rolecall.ts";
import { removeAtExit } from "./reaper.ts";
import { freePort } from "../../fake/free-port.ts";
import { until } from "../../fake/until.ts";
import { startSimulator, type Simulator } from "../../../src/tools/simulator/simulator.ts";

/** One load balancer with a rendered configuration. */
export interface RenderedBalancer {
  readonly title: string;
  readonly edges: 1 | 2;
  readonly writePort: number;
  readonly readPort: number;
  /** Where HAProxy serves its statistics; `null` for Envoy. */
  readonly statsPort: number | null;
  readonly tail: () => string;
}

/** One instance of rolecall, which can be started again on its port. */
export class RenderedEdge {
  readonly port: number;
  readonly #start: () => Child;
  #child: Child;

  constructor(port: number, start: () => Child) {
    this.port = port;
    this.#start = start;
    this.#child = start();
  }

  async ready(): Promise<void> {
    const wait = { what: `ready rolecall on port ${this.port}`, seconds: 15, evidence: () => this.#child.tail };
    await until(wait, async () => (await ask({ port: this.port, path: "/readyz" })).status === 200);
  }

  start(): void {
    this.#child = this.#start();
  }

  async stop(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    await this.#child.stop(signal);
  }

  /** SIGSTOP; what it returns thaws it again. */
  freeze(): () => void {
    if (this.#child.pid === undefined) throw new Error("Cannot freeze rolecall: it was not started");
    return freeze(this.#child.pid);
  }
}

export class RenderedLab {
  readonly folder = mkdtempSync(join(tmpdir(), "rolecall-rendered-"));
  readonly balancers: RenderedBalancer[] = [];
  readonly #stops: (() => Promise<unknown>)[] = [];
  #edges: readonly [RenderedEdge, RenderedEdge] | undefined;
  #simulator: Simulator | undefined;
  #config = "";

  /** Starts everything and waits until each pool reaches the right databases. */
  static async start(programs: readonly BalancerProgram[]): Promise<RenderedLab> {
    const lab = new RenderedLab();
    removeAtExit(lab.folder);
    try {
      await lab.#start(programs);
    } catch (error) {
      await lab.stop();
      throw error;
    }
    return lab;
  }

  get edges(): readonly [RenderedEdge, RenderedEdge] {
    if (this.#edges === undefined) throw new Error("Cannot use the instances of rolecall: they were not started");
    return this.#edges;
  }

  /** Switches over from a node to another one, as an operator does. Returns before it is complete. */
  async switchOver(leader: string, candidate: string): Promise<void> {
    const node = this.#simulator?.nodes.find(({ name }) => name === leader);
    const reply = await ask({
      port: Number(new URL(node?.url ?? "").port),
      path: "/switchover",
      method: "POST",
      body: { leader, candidate },
      deadlineMs: 20_000,
    });
    if (reply.status !== 200) throw new Error(`Cannot switch over to ${candidate}: ${reply.status} ${reply.body}`);
  }

  /** Waits until writes through a balancer reach this node alone, and reads both others. */
  async settled(primary: string): Promise<void> {
    for (const { title, writePort, readPort, tail } of this.balancers) {
      const wait = { what: `${title} with writes to ${primary} alone`, seconds: 20, evidence: tail };
      await until(wait, async () => {
        const writes = await reached(writePort, 3);
        const reads = await reached(readPort, 6);
        return writes.length === 1 && writes[0] === primary && reads.length === 2 && !reads.includes(primary);
      });
    }
  }

  /**
   * Waits until the fallback pools of every HAProxy, whose checks are less frequent, have this primary alone. A server
   * whose status is `UP 1/2` has failed one check and still takes sessions.
   */
  async fallbackSettled(primary: string): Promise<void> {
    for (const { title, statsPort, tail } of this.balancers) {
      if (statsPort === null) continue;
      const wait = { what: `${title} with ${primary} alone in its fallback`, seconds: 20, evidence: tail };
      await until(wait, async () => {
        const { body } = await ask({ port: statsPort, path: "/;csv" });
        const rows = body.split("\n").map((line) => line.split(","));
        const servers = rows.filter(([pool, server]) => pool === "demo_write_direct" && server !== "BACKEND");
        return servers.length === 3 && servers.every((row) => row[17]?.startsWith(row[1] === primary ? "UP" : "DOWN"));
      });
    }
  }

  /** Renders a configuration, as an operator does, and returns the name of its file. */
  async render(kind: "haproxy" | "envoy", name: string, args: readonly string[]): Promise<string> {
    const file = join(this.folder, `${name}.${kind === "haproxy" ? "cfg" : "yaml"}`);
    const argv = [program, "render", kind, "--config", this.#config, ...args];
    const { stdout } = await promisify(execFile)(process.execPath, argv, { timeout: 20_000 });
    writeFileSync(file, stdout);
    return file;
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.toReversed()) await stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #start(programs: readonly BalancerProgram[]): Promise<void> {
    const simulator = await startSimulator({ nodes: 3, port: 0, switchoverMs: 1_000 });
    this.#simulator = simulator;
    this.#stops.push(() => simulator.stop());
    const nodes: object[] = [];
    for (const { name, url } of simulator.nodes) {
      const database = await EchoDatabase.start(name);
      this.#stops.push(() => database.stop());
      nodes.push({ name, api: url, database: `127.0.0.1:${database.port}` });
    }
    this.#edges = [await this.#startEdge(1, nodes), await this.#startEdge(2, nodes)];
    for (const edge of this.#edges) await edge.ready();
    for (const [index, found] of programs.entries())
      for (const edges of [2, 1] as const) await this.#startBalancer(found, `${index}-${edges}`, edges);
    await this.settled("pg1");
  }

  async #startEdge(number: number, nodes: readonly object[]): Promise<RenderedEdge> {
    const [port, adminPort] = [await freePort(), await freePort()];
    const file = join(this.folder, `rolecall${number}.yaml`);
    const listen = [{ port }, { port: adminPort, dialect: "admin" }];
    writeFileSync(file, JSON.stringify({ clusters: [{ name: "demo", nodes }], listen })); // JSON is YAML
    this.#config = file;
    const command = [process.execPath, program, "serve", "--config", file] as const;
    const edge = new RenderedEdge(port, () => new Child({ name: `rolecall${number}`, command, folder: this.folder }));
    this.#stops.push(() => edge.stop("SIGKILL"));
    return edge;
  }

  async #startBalancer({ kind, title, found }: BalancerProgram, name: string, edges: 1 | 2): Promise<void> {
    if ("notRun" in found) return;
    const [writePort, readPort, checkPort] = [await freePort(), await freePort(), await freePort()];
    const statsPort = await freePort();
    const addresses = this.edges.slice(0, edges).map(({ port }) => `127.0.0.1:${port}`);
    const ports = { "write-port": writePort, "read-port": readPort, "check-port": checkPort };
    const options = Object.entries({ ...ports, "stats-port": statsPort }).flatMap(([option, port]) => [
      `--${option}`,
      String(port),
    ]);
    // Several run here at the same time, and one only may have the socket of the distribution.
    const file = await this.render(kind, name, ["--edge", addresses.join(","), "--bare", ...options]);
    const command =
      kind === "haproxy"
        ? ([found.path, "-db", "-f", file] as const)
        : ([found.path, "-c", file, "--use-dynamic-base-id", "--concurrency", "1", "--log-level", "warn"] as const);
    const child = new Child({ name: `balancer-${name}`, command, folder: this.folder });
    this.#stops.push(() => child.stop("SIGKILL"));
    const count = edges === 2 ? "two instances" : "one instance";
    this.balancers.push({
      title: `${title}, ${count}`,
      edges,
      writePort,
      readPort,
      statsPort: kind === "haproxy" ? statsPort : null,
      tail: () => child.tail,
    });
  }
}
