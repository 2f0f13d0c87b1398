/** Everything that runs: the cluster, the instances of rolecall, the balancers, and the clients of each pool. */
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BalancerProgram } from "../../test/real/lab/balancer-programs.ts";
import type { Command } from "../../test/real/lab/beside.ts";
import { Cluster } from "../../test/real/lab/cluster.ts";
import type { PatroniNode } from "../../test/real/lab/patroni.ts";
import { findPgExporter } from "../../test/real/lab/plain.ts";
import { ports } from "../../test/real/lab/ports.ts";
import { freePort } from "../../test/fake/free-port.ts";
import { until } from "../../test/fake/until.ts";
import { startBalancer } from "./balancer-process.ts";
import { once } from "./connections.ts";
import { EdgeProcess } from "./edge-process.ts";
import { startExporters } from "./exporters.ts";
import { Hints } from "./hints.ts";
import { PoolClient } from "./pool-client.ts";
import { NodePoller, YesPoller } from "./pollers.ts";
import { edgePlans, plainConfiguration, poolPlans, secondEdge, type PoolContext, type PoolPlan } from "./pools.ts";
import { Recorder } from "./recorder.ts";
import type { MeasuredPool } from "./samples.ts";
import { query } from "./wire.ts";

export interface LabChoice {
  readonly patroni: Command;
  readonly balancers: readonly BalancerProgram[];
  /** The names of the pools to run; empty: all. */
  readonly pools: readonly string[];
  /** The factor of every pause of the clients and of the requests for rolecall's answers. */
  readonly slowness: number;
}

/** A pool or an instance that does not run, and why. */
export interface NotRun {
  readonly name: string;
  readonly reason: string;
}

/** A process whose sudden end makes all figures worthless. */
interface Watched {
  readonly isRunning: boolean;
  readonly tail: string;
}

export class OutageLab {
  readonly cluster: Cluster;
  readonly recorder = new Recorder();
  readonly pools: MeasuredPool[] = [];
  readonly notRun: NotRun[] = [];
  readonly #choice: LabChoice;
  readonly #clients: PoolClient[] = [];
  readonly #edges = new Map<string, EdgeProcess>();
  readonly #watched: Watched[] = [];
  readonly #stops: (() => unknown)[] = [];
  #hints: Hints | undefined;

  /** Starts everything, and waits until each pool reads and writes. @throws Error with the ends of the logs */
  static async start(choice: LabChoice): Promise<OutageLab> {
    const cluster = await Cluster.start(choice.patroni);
    const lab = new OutageLab(cluster, choice);
    try {
      await lab.#start();
    } catch (error) {
      await lab.stop();
      throw error;
    }
    return lab;
  }

  private constructor(cluster: Cluster, choice: LabChoice) {
    this.cluster = cluster;
    this.#choice = choice;
    this.#stops.push(() => cluster.stop());
  }

  /** The names of the pools whose clients run. */
  get names(): readonly string[] {
    return this.pools.map(({ name }) => name);
  }

  /** Waits until the cluster is whole, and every pool writes to the leader and reads from a replica. */
  async settle(): Promise<void> {
    await this.cluster.whole(120);
    await this.cluster.streaming(60);
    const { name: leader } = await this.cluster.leader();
    const unsettled = (): readonly PoolClient[] => this.#clients.filter((client) => !client.isSettled(leader));
    const evidence = (): string =>
      unsettled()
        .map((client) => client.evidence)
        .join("\n");
    await until({ what: `every pool on ${leader}`, seconds: 60, evidence }, () => {
      this.assertRunning();
      return unsettled().length === 0;
    });
  }

  /** Reloads all instances: no event finds the time of bursts (rule 12) used up by those just before it. */
  renewBursts(): void {
    for (const edge of this.#edges.values()) edge.reload();
  }

  /** Starts a node that was killed. */
  restart(node: PatroniNode): void {
    node.start();
    this.#hints?.configure(node); // it has not read its file yet
  }

  /** @throws Error with the end of its log if a process ended that should not have */
  assertRunning(): void {
    const ended = this.#watched.find(({ isRunning }) => !isRunning);
    if (ended !== undefined) throw new Error(`Cannot measure: a process ended\n${ended.tail}`);
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.toReversed()) await stop();
  }

  async #start(): Promise<void> {
    await this.cluster.streaming();
    const leader = await this.cluster.leader();
    const tables =
      "create table outage_write (pool int); create table outage_beat (at float8); insert into outage_beat values (0)";
    const { failure } = await once(leader.databasePort, query(tables), 10_000);
    if (failure !== undefined) throw new Error(`Cannot create the tables on ${leader.name}: ${failure}`);
    const chosen = poolPlans.filter(({ name }) => this.#choice.pools.length === 0 || this.#choice.pools.includes(name));
    const context = await this.#context(chosen);
    if (chosen.some(({ checks }) => "plain" in checks && checks.plain === "exporter"))
      for (const exporter of await startExporters(this.cluster)) {
        this.#stops.push(() => exporter.stop("SIGINT"));
        this.#watched.push(exporter);
      }
    await this.#startEdges(chosen, context);
    for (const plan of chosen) await this.#startPool(plan, context);
    if (this.pools.length === 0) throw new Error("Cannot measure: at least one pool must run, got none");
    for (const node of this.cluster.nodes) this.#run(new NodePoller(node, this.recorder));
    for (const edge of this.#edges.values())
      if (edge.name !== secondEdge) this.#run(new YesPoller(edge, this.recorder, this.#choice.slowness));
    for (const client of this.#clients) this.#run(client);
  }

  #run(runner: { start(): unknown; stop(): void }): void {
    void runner.start();
    this.#stops.push(() => runner.stop());
  }

  async #context(chosen: readonly PoolPlan[]): Promise<PoolContext> {
    const hintTokenFile = join(this.cluster.folder, "hint.token");
    writeFileSync(hintTokenFile, `${randomBytes(24).toString("hex")}\n`, { mode: 0o600 });
    return {
      nodes: this.cluster.nodes,
      etcdUrl: `http://127.0.0.1:${ports.etcdClient}`,
      agentPort: await freePort(),
      hintTokenFile,
      exporterPort: ports.plainExporter,
      sockets: (pool) =>
        chosen.some(({ name }) => name === pool)
          ? this.#programs("haproxy").map((_, at) => this.#socket(pool, at))
          : [],
    };
  }

  #socket(pool: string, at: number): string {
    return join(this.cluster.folder, `${pool}-${at}.sock`);
  }

  #programs(kind: BalancerProgram["kind"]): readonly { readonly title: string; readonly path: string }[] {
    return this.#choice.balancers.flatMap((each) =>
      each.kind === kind && "path" in each.found ? [{ title: each.title, path: each.found.path }] : [],
    );
  }

  async #startEdges(chosen: readonly PoolPlan[], context: PoolContext): Promise<void> {
    const wanted = new Set(chosen.flatMap(({ checks }) => ("edge" in checks ? [checks.edge, secondEdge] : [])));
    for (const plan of edgePlans.filter(({ name }) => wanted.has(name))) {
      const edge = await EdgeProcess.start(this.cluster, plan.name, plan.keys(context));
      if ("notRun" in edge) {
        this.notRun.push({ name: `instance ${plan.name}`, reason: edge.notRun });
        continue;
      }
      this.#edges.set(plan.name, edge);
      this.#stops.push(() => edge.stop());
      this.#watched.push(edge);
      if (plan.hasHints === true) await this.#sendHints(new Hints(this.cluster.folder, edge, context.hintTokenFile));
    }
  }

  async #sendHints(hints: Hints): Promise<void> {
    this.#hints = hints;
    for (const node of this.cluster.nodes) await hints.reconfigure(node);
  }

  /** Starts a pool once for each program of its balancer. */
  async #startPool(plan: PoolPlan, context: PoolContext): Promise<void> {
    const programs = this.#programs(plan.balancer);
    if (programs.length === 0) this.notRun.push({ name: plan.name, reason: `no ${plan.balancer} is installed` });
    for (const [at, { title, path }] of programs.entries()) {
      const name = at === 0 ? plan.name : `${plan.name}, ${title}`;
      const reason = this.#reasonNotToRun(plan);
      if (reason !== undefined) {
        this.notRun.push({ name, reason });
        continue;
      }
      const [write, read, check] = [await freePort(), await freePort(), await freePort()];
      const configuration = this.#configuration(plan, context, {
        write,
        read,
        check,
        socket: this.#socket(plan.name, at),
      });
      const file = name.replaceAll(/\W+/g, "-");
      const balancer = startBalancer(this.cluster.folder, { kind: plan.balancer, path, name: file, configuration });
      this.#stops.push(() => balancer.stop("SIGKILL"));
      this.#watched.push(balancer);
      this.#addClient(name, [write, read], "edge" in plan.checks ? plan.checks.edge : null);
    }
  }

  #addClient(name: string, [writePort, readPort]: readonly [number, number], edge: string | null): void {
    const nodes = new Map(this.cluster.nodes.map((node) => [String(node.databasePort), node.name]));
    const shared = { recorder: this.recorder, nodes, slowness: this.#choice.slowness };
    this.#clients.push(new PoolClient({ name, writePort, readPort }, this.#clients.length, shared));
    this.pools.push({ name, edge });
  }

  #reasonNotToRun({ checks }: PoolPlan): string | undefined {
    if ("edge" in checks) return this.#edges.has(checks.edge) ? undefined : `instance ${checks.edge} does not run`;
    const program = findPgExporter();
    if (checks.plain === "api" || (program !== undefined && existsSync(program))) return undefined;
    return "no program is named by PG_EXPORTER";
  }

  #configuration(
    plan: PoolPlan,
    context: PoolContext,
    pool: { readonly write: number; readonly read: number; readonly check: number; readonly socket: string },
  ): string {
    const { checks } = plan;
    const { write, read, check, socket } = pool;
    if ("plain" in checks) return plainConfiguration(context, { write, read }, checks);
    const edge = this.#edges.get(checks.edge);
    if (edge === undefined) throw new Error(`Cannot render ${plan.name}: instance ${checks.edge} must run`);
    const second = checks.instances === 2 ? this.#edges.get(secondEdge) : undefined;
    const options = { "write-port": write, "read-port": read, "check-port": check, ...plan.renderOptions?.(context) };
    const rendered = edge.render(plan.balancer, second, options);
    return plan.alter?.(rendered, { ...context, socket }) ?? rendered;
  }
}
