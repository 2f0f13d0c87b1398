import { errorMessage } from "../../core/cluster/values/error-message.ts";
import type { DatabaseAddress } from "../../core/cluster/node.ts";
import { formatHostPort } from "../../core/config/values/address.ts";
import type { PoolerConfig } from "../../core/config/model/config.ts";
import { backoffMs } from "../../core/probe/schedule/backoff.ts";
import { removeStaleDrafts } from "../../core/state/files/atomic-file.ts";
import type { Balancer, BalancerContext, BalancerStatus, LeadTo } from "../../core/balancing/balancer.ts";
import { BalancerProblems } from "../../core/balancing/balancer-problems.ts";
import { ExchangeLoop } from "../../core/balancing/exchange-loop.ts";
import { isOfPrimary } from "../../core/balancing/pool-verdicts.ts";
import type { ServerChange } from "../../core/balancing/server-change.ts";
import { ConsoleError } from "../../core/balancing/pgbouncer/console-error.ts";
import { PgbouncerConsole } from "../../core/balancing/pgbouncer/console.ts";
import { readVersion } from "../../core/balancing/pgbouncer/documents.ts";
import { includedFiles, type IncludedFiles } from "../../core/balancing/pgbouncer/included-file.ts";
import { cutClientsOf, lowerFile, routeFile, type Routes, type RoutingOutcome } from "./route-databases.ts";

/** What it depends on. */
export interface PgbouncerBalancerContext extends BalancerContext {
  /** The address of the database of a node; `null` if it is not known. */
  readonly addressOf: (cluster: string, node: string) => DatabaseAddress | null;
  /** Whether no other node of the cluster than this one says that it is a primary: a server elsewhere is of no use. */
  readonly isSolePrimary: (cluster: string, node: string) => boolean;
  /** Something else had changed a file, and it is put right. Must not throw. */
  readonly onRepaired?: (repaired: RepairedFile) => void;
  /** Replaced in tests. */
  readonly files?: IncludedFiles;
  readonly timing?: RoutingTiming;
}

/** A file of a pooler that something else had changed. */
export interface RepairedFile {
  readonly pooler: string;
  readonly file: string;
  /** Its databases, and where each led meanwhile; `null`: where it should. */
  readonly databases: readonly { readonly name: string; readonly cluster: string; readonly ledTo: string | null }[];
}

/** Times in ms. */
export interface RoutingTiming {
  /** For each command of the console. */
  readonly limitMs: number;
  /** How often PgBouncer and the file are compared with the verdicts. */
  readonly pollMs: number;
  /** The first and the longest time between two attempts while the console cannot be used. */
  readonly consoleRetryMs: readonly [first: number, longest: number];
  /** The same while a file cannot be written, or PgBouncer does not follow it. */
  readonly fileRetryMs: readonly [first: number, longest: number];
  /** How often a pool is looked at that is larger for a while. */
  readonly raisedMs: number;
}

/** A database, and the server that it should have. */
export interface RouteTarget extends DatabaseAddress {
  readonly database: string;
}

/** Whether PgBouncer has the server, or why not. */
export type RouteResult = { readonly routed: true } | { readonly routed: false; readonly problem: string };

const defaultTiming: RoutingTiming = {
  limitMs: 1_000,
  pollMs: 5_000,
  consoleRetryMs: [250, 1_000],
  fileRetryMs: [250, 30_000],
  raisedMs: 250,
};

/** How many problems and servers a status shows. */
const shownMax = 200;

/**
 * Keeps the files that one PgBouncer includes: each database leads to the node that is fit for its check. Without such
 * a node, with two, or without its address nothing changes. One exchange runs at a time; each opens a console of its own,
 * because from 1.23 on PgBouncer waits at its end for every client.
 */
export class PgbouncerBalancer implements Balancer {
  readonly #config: PoolerConfig;
  readonly #context: PgbouncerBalancerContext;
  readonly #timing: RoutingTiming;
  readonly #files: IncludedFiles;
  readonly #problems: BalancerProblems;
  readonly #loop: ExchangeLoop;
  /** When the verdict of a database changed that PgBouncer does not follow yet, in ms of rolecall's clock. */
  readonly #waiting = new Map<string, number>();
  /** Database -> where it was seen to lead, as the verdicts wanted: what differs from that later was changed by others. */
  readonly #settled = new Map<string, string>();
  /** The work with the files that was given last. */
  #turn: Promise<unknown> = Promise.resolve();
  #isUp: boolean | null = null;
  #version: string | null = null;
  #pushedAtMs: number | null = null;
  #failures = 0;

  constructor(config: PoolerConfig, context: PgbouncerBalancerContext) {
    this.#config = config;
    this.#context = context;
    this.#timing = context.timing ?? defaultTiming;
    this.#files = context.files ?? includedFiles;
    this.#problems = new BalancerProblems(context.log, config.name);
    this.#loop = new ExchangeLoop((ended) => this.#exchange(ended));
  }

  status(only: string | null = null): BalancerStatus {
    const { name, pgbouncer, databases } = this.#config;
    const isShown = (database: string): boolean =>
      databases.some((one) => one.name === database && (only === null || one.cluster === only));
    return {
      balancer: name,
      kind: "pgbouncer",
      socket: pgbouncer.address,
      up: this.#isUp,
      version: this.#version,
      waiting: this.#waiting.size,
      pushed_ms_ago: this.#pushedAtMs === null ? null : Math.round(this.#context.now() - this.#pushedAtMs),
      problems: this.#problems
        .list()
        .filter(({ subject }) => !subject.startsWith("database ") || isShown(subject.slice("database ".length)))
        .slice(0, shownMax),
      servers: this.#context
        .current()
        // A database leads to one node: it does not matter why others are not fit.
        .filter(({ backend, target }) => target === "up" && isShown(backend))
        .slice(0, shownMax)
        .map(({ backend, server, target, weight }) => ({ backend, server, target, weight })),
    };
  }

  start(): void {
    for (const file of this.#fileNames) void removeStaleDrafts(file).catch(() => {});
    this.#loop.now();
  }

  push(changes: readonly ServerChange[]): void {
    for (const { backend, target, atMs } of changes) if (target === "up") this.#waiting.set(backend, atMs);
    this.#loop.now();
  }

  stop(): void {
    this.#loop.stop();
  }

  /** Routes the databases of the cluster that have a file, or one of them, also while they are paused. */
  async lead({ cluster, node, database: only }: LeadTo, limitMs: number): Promise<string | null> {
    const address = this.#context.addressOf(cluster, node);
    if (address === null) return `the address of the database of ${node} is not known`;
    for (const { name: database, check, file, ...own } of this.#config.databases) {
      if (file === null || own.cluster !== cluster || !isOfPrimary({ check })) continue;
      if (only !== null && database !== only) continue;
      const result = await this.route({ database, ...address }, limitMs);
      if (!result.routed) return result.problem;
    }
    return null;
  }

  /**
   * Routes a database now, also while it is paused, and waits until PgBouncer shows the server. Changes nothing if it
   * shows it already. Never rejects.
   * @param limitMs for all of it
   */
  async route({ database, host, port }: RouteTarget, limitMs: number): Promise<RouteResult> {
    const file = this.#config.databases.find(({ name }) => name === database)?.file ?? null;
    if (file === null) return { routed: false, problem: `database ${database} has no file` };
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(), limitMs);
    const late = new Promise<RouteResult>((resolve) =>
      ended.signal.addEventListener("abort", () => resolve({ routed: false, problem: `not done in ${limitMs} ms` })),
    );
    const work = async (): Promise<RouteResult> => {
      if (ended.signal.aborted) return late;
      const routes = new Map([[database, { host, port }]]);
      try {
        return await this.#withConsole(ended.signal, async (console) => {
          const outcome = await routeFile(this.#tools(console, limitMs), file, routes);
          this.#record(file, routes, outcome);
          return outcome.kind === "failed" ? { routed: false, problem: outcome.problem } : { routed: true };
        });
      } catch (error) {
        return { routed: false, problem: errorMessage(error) };
      }
    };
    try {
      return await Promise.race([this.#inTurn(work), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  get #fileNames(): ReadonlySet<string> {
    return new Set(this.#config.databases.flatMap(({ file }) => file ?? []));
  }

  /** Runs one exchange. @returns how long to wait before the next one, in ms */
  async #exchange(ended: AbortSignal): Promise<number> {
    try {
      const { areDone, areRaised } = await this.#inTurn(() =>
        this.#withConsole(ended, async (console) => ({
          areDone: await this.#routeAll(console),
          areRaised: await this.#lowerAll(console),
        })),
      );
      if (areDone) {
        this.#failures = 0;
        return areRaised ? this.#timing.raisedMs : this.#timing.pollMs;
      }
      return this.#retryMs(this.#timing.fileRetryMs);
    } catch (error) {
      if (ended.aborted) return 0;
      const { metrics } = this.#context;
      const balancer = this.#config.name;
      this.#isUp = false;
      metrics.set("balancerUp", { balancer }, 0);
      this.#problems.report("console", errorMessage(error));
      return this.#retryMs(this.#timing.consoleRetryMs);
    }
  }

  #retryMs([firstMs, maxMs]: readonly [number, number]): number {
    this.#failures += 1;
    return backoffMs({ firstMs, maxMs, failures: this.#failures });
  }

  /** @returns whether PgBouncer follows every verdict */
  async #routeAll(console: PgbouncerConsole): Promise<boolean> {
    const { limitMs } = this.#timing;
    const { major, minor } = readVersion(await console.query("SHOW VERSION", limitMs));
    this.#version = `${major}.${minor}`;
    this.#isUp = true;
    this.#problems.resolve("console");
    this.#context.metrics.set("balancerUp", { balancer: this.#config.name }, 1);
    let areDone = true;
    // Each verdict is read as late as possible.
    for (const file of this.#fileNames) {
      const routes = this.#wantedOf(file);
      if (routes.size === 0) continue;
      const outcome = await routeFile(this.#tools(console, limitMs), file, routes);
      this.#record(file, routes, outcome);
      areDone &&= outcome.kind !== "failed";
    }
    return areDone;
  }

  /**
   * Looks at the pools that are larger because servers of a machine that has vanished count in them: cuts the clients of these,
   * and gives the pools their old sizes once none is left. @returns whether pools are still larger
   */
  async #lowerAll(console: PgbouncerConsole): Promise<boolean> {
    const { log } = this.#context;
    const { limitMs } = this.#timing;
    const pooler = this.#config.name;
    let areRaised = false;
    for (const file of this.#fileNames) {
      const { left, lowered, problem } = await lowerFile({ console, files: this.#files, limitMs }, file);
      const subject = `pool sizes in ${file}`;
      if (problem === null) this.#problems.resolve(subject);
      else this.#problems.report(subject, problem);
      if (problem === null && lowered.length > 0)
        log.info({ pooler, databases: lowered }, "pools have their old sizes: no server of a lost machine is left");
      areRaised ||= left.size > 0;
      for (const [database, servers] of left) {
        if (!this.#mayCut(database)) continue;
        const cut = await cutClientsOf({ console, limitMs }, servers);
        if (cut > 0) log.warn({ pooler, database, clients: cut }, "clients cut whose server does not answer any more");
      }
    }
    return areRaised;
  }

  /** Whether a server that the database does not lead to any more can be of no use: another primary is accepted. */
  #mayCut(name: string): boolean {
    const database = this.#config.databases.find((one) => one.name === name);
    if (database === undefined || !isOfPrimary(database) || this.#config.holdOnLossMs === null) return false;
    const fit = this.#context.current().filter(({ backend, target }) => backend === name && target === "up");
    const [only] = fit;
    return fit.length === 1 && only !== undefined && this.#context.isSolePrimary(database.cluster, only.server);
  }

  #tools(console: PgbouncerConsole, limitMs: number): Parameters<typeof routeFile>[0] {
    const { holdOnLossMs, databases } = this.#config;
    const grows = (name: string): boolean =>
      holdOnLossMs !== null && databases.some((database) => database.name === name && isOfPrimary(database));
    return { console, files: this.#files, limitMs, grows };
  }

  /** The servers of the databases of a file, as far as the verdicts name exactly one. */
  #wantedOf(file: string): Routes {
    const routes = new Map<string, DatabaseAddress>();
    const current = this.#context.current();
    for (const { name, cluster, file: ownFile } of this.#config.databases) {
      if (ownFile !== file) continue;
      const fit = current.filter(({ backend, target }) => backend === name && target === "up");
      const [only] = fit;
      const subject = `database ${name}`;
      if (only === undefined) continue;
      const address = this.#context.addressOf(cluster, only.server);
      if (fit.length > 1)
        this.#problems.report(
          subject,
          `${fit.map(({ server }) => server).join(" and ")} are both fit: nothing changes`,
        );
      else if (address === null)
        this.#problems.report(subject, `the address of the database of ${only.server} is not known: nothing changes`);
      else {
        this.#problems.resolve(subject);
        routes.set(name, address);
      }
    }
    return routes;
  }

  #record(file: string, routes: Routes, outcome: RoutingOutcome): void {
    const { log, now, metrics } = this.#context;
    const balancer = this.#config.name;
    const subject = `file ${file}`;
    const problem = outcome.kind === "unchanged" ? null : outcome.problem;
    if (problem === null) this.#problems.resolve(subject);
    else this.#problems.report(subject, problem);
    if (outcome.kind === "failed") {
      for (const database of routes.keys()) this.#settled.delete(database);
      metrics.count("balancerPushes", { balancer, outcome: "failed" }, routes.size);
      return;
    }
    this.#tellRepaired(file, routes, outcome);
    for (const [database, { host, port }] of routes) {
      const atMs = this.#waiting.get(database);
      this.#waiting.delete(database);
      if (outcome.kind === "unchanged" || !outcome.databases.includes(database)) continue;
      this.#pushedAtMs = now();
      const durationMs = atMs === undefined ? null : this.#pushedAtMs - atMs;
      metrics.count("balancerPushes", { balancer, outcome: "pushed" });
      if (durationMs !== null) metrics.observe("balancerPushDurations", { balancer }, durationMs);
      const duration = durationMs === null ? {} : { duration_ms: Math.round(durationMs) };
      log.info({ balancer, database, host, port, ...duration }, "pooler updated");
    }
  }

  /** What had been as the verdicts want it, and differs although they have not changed, was changed by somebody else. */
  #tellRepaired(file: string, routes: Routes, outcome: Exclude<RoutingOutcome, { readonly kind: "failed" }>): void {
    const ledTo = outcome.kind === "unchanged" ? new Map<string, string>() : outcome.ledTo;
    const settled = [...routes].filter(([name, address]) => this.#settled.get(name) === formatHostPort(address));
    const isForeign = ledTo.size === 0 ? settled.length === routes.size : settled.some(([name]) => ledTo.has(name));
    if (outcome.kind === "routed" && isForeign) {
      const databases = this.#config.databases.filter(({ name }) => settled.some(([known]) => known === name));
      this.#context.onRepaired?.({
        pooler: this.#config.name,
        file,
        databases: databases.map(({ name, cluster }) => ({ name, cluster, ledTo: ledTo.get(name) ?? null })),
      });
    }
    for (const [name, address] of routes) this.#settled.set(name, formatHostPort(address));
  }

  async #withConsole<T>(ended: AbortSignal, work: (console: PgbouncerConsole) => Promise<T>): Promise<T> {
    const console = await PgbouncerConsole.open(this.#config.pgbouncer, this.#timing.limitMs);
    const close = (): void => console.close();
    ended.addEventListener("abort", close);
    try {
      if (ended.aborted) throw new ConsoleError("lost", "rolecall is stopping");
      return await work(console);
    } finally {
      ended.removeEventListener("abort", close);
      console.close();
    }
  }

  /** Files are changed by one piece of work at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }
}
