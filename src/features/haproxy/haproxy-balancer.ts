import { errorMessage } from "../../core/cluster/values/error-message.ts";
import type { BalancerConfig } from "../../core/config/model/config.ts";
import { backoffMs } from "../../core/probe/schedule/backoff.ts";
import type { Balancer, BalancerContext, BalancerStatus, LeadTo } from "../../core/balancing/balancer.ts";
import { BalancerProblems } from "../../core/balancing/balancer-problems.ts";
import { ChangeQueue } from "../../core/balancing/change-queue.ts";
import type { ClusterMembers } from "../../core/balancing/cluster-members.ts";
import { ExchangeLoop } from "../../core/balancing/exchange-loop.ts";
import { isOfPrimary } from "../../core/balancing/pool-verdicts.ts";
import type { ServerChange } from "../../core/balancing/server-change.ts";
import { type AppliedChange, applyChanges, readBackends } from "./apply-changes.ts";
import { type HaproxyProcess, haproxyProcessCommands, parseHaproxyProcess } from "./haproxy-process.ts";
import type { LookUp } from "../../core/balancing/host-addresses.ts";
import { MemberServers } from "./member-servers.ts";
import { RuntimeApiError, RuntimeSession } from "./runtime-session.ts";
import type { ServerState } from "./server-state.ts";

/** What it depends on. */
export interface HaproxyBalancerContext extends BalancerContext {
  readonly members: (cluster: string) => ClusterMembers;
  /** Replaced in tests. */
  readonly timing?: ExchangeTiming;
  readonly lookUp?: LookUp;
}

/** The times of exchanges, in ms. */
export interface ExchangeTiming {
  /** How long one exchange with HAProxy may take. */
  readonly deadlineMs: number;
  /** How often a process of HAProxy is looked for that has replaced the last one. */
  readonly pollMs: number;
  /** The first and the longest time between two attempts while HAProxy cannot be used. */
  readonly retryMs: readonly [first: number, longest: number];
}

/** How many problems and servers a status shows. */
const shownMax = 200;

const defaultTiming: ExchangeTiming = { deadlineMs: 1_000, pollMs: 1_000, retryMs: [250, 5_000] };

/**
 * Sends changes to one HAProxy. Changes wait in a queue that keeps the newest of each server; one exchange runs at a
 * time. A new process of HAProxy gets the current verdict of every server.
 */
export class HaproxyBalancer implements Balancer {
  readonly #config: BalancerConfig;
  readonly #context: HaproxyBalancerContext;
  readonly #timing: ExchangeTiming;
  readonly #queue = new ChangeQueue();
  readonly #problems: BalancerProblems;
  readonly #members: MemberServers;
  readonly #loop: ExchangeLoop;
  /** The process whose servers were all updated last. */
  #process: HaproxyProcess | null = null;
  #isUp: boolean | null = null;
  #pushedAtMs: number | null = null;
  #failures = 0;
  /** When an exchange last failed, in ms of rolecall's clock: changes since then are not counted as failed yet. */
  #failedAtMs = -Infinity;

  constructor(config: BalancerConfig, context: HaproxyBalancerContext) {
    this.#config = config;
    this.#context = context;
    this.#timing = context.timing ?? defaultTiming;
    this.#problems = new BalancerProblems(context.log, config.name);
    this.#members = new MemberServers(config.haproxy, {
      ...context,
      balancer: config.name,
      problems: this.#problems,
    });
    this.#loop = new ExchangeLoop((ended) => this.#exchange(ended));
  }

  /** What is known of it now. @param only the servers of this cluster, without the problems of others; `null`: all */
  status(only: string | null = null): BalancerStatus {
    const { name, haproxy } = this.#config;
    const { now, current } = this.#context;
    const hidden = haproxy.backends.filter(({ cluster }) => only !== null && cluster !== only);
    const isShown = (backend: string): boolean => hidden.every((other) => other.name !== backend);
    const concernsHidden = (subject: string): boolean =>
      hidden.some((other) => subject === `backend ${other.name}` || subject.startsWith(`server ${other.name}/`));
    return {
      balancer: name,
      kind: "haproxy",
      socket: haproxy.socket,
      up: this.#isUp,
      version: this.#process?.version ?? null,
      waiting: this.#queue.size,
      pushed_ms_ago: this.#pushedAtMs === null ? null : Math.round(now() - this.#pushedAtMs),
      problems: this.#problems
        .list()
        .filter(({ subject }) => !concernsHidden(subject))
        .slice(0, shownMax),
      servers: current()
        .filter(({ backend }) => isShown(backend))
        .slice(0, shownMax)
        .map(({ backend, server, target, weight }) => ({ backend, server, target, weight })),
    };
  }

  /** Connects for the first time, and looks for new processes of HAProxy from now on. */
  start(): void {
    this.#loop.now();
  }

  /** Sends changes, at once unless an exchange is running. */
  push(changes: readonly ServerChange[]): void {
    for (const change of changes) this.#queue.add(change);
    this.#loop.now();
  }

  /** Sends what waits, and asks HAProxy which servers of the primary's backends run. */
  async lead({ cluster, node }: LeadTo, limitMs: number): Promise<string | null> {
    this.#loop.now();
    const backends = this.#config.haproxy.backends.filter(
      (backend) => backend.cluster === cluster && isOfPrimary(backend),
    );
    const session = new RuntimeSession(this.#config.haproxy.socket, limitMs);
    try {
      session.open();
      const states = await readBackends(
        session,
        backends.map(({ name }) => name),
      );
      return (
        backends
          .map(({ name, servers }) => wrongServer(states.get(name), name, serverOf(servers, node)))
          .find((problem) => problem !== null) ?? null
      );
    } catch (error) {
      return errorMessage(error);
    } finally {
      session.close();
    }
  }

  /** Stops. Changes that wait are dropped: HAProxy's checks go on. */
  stop(): void {
    this.#loop.stop();
  }

  /** Runs one exchange. @returns how long to wait before the next one, in ms */
  async #exchange(ended: AbortSignal): Promise<number> {
    const session = new RuntimeSession(this.#config.haproxy.socket, this.#timing.deadlineMs);
    const close = (): void => session.close();
    ended.addEventListener("abort", close);
    try {
      session.open();
      const process = parseHaproxyProcess(await session.run(haproxyProcessCommands));
      this.#requireUsable(process);
      const isNew = process.id !== this.#process?.id;
      await this.#follow(session, { isNew, version: process.version });
      await this.#apply(session, isNew);
      if (isNew) this.#begin(process);
      this.#succeed();
      return this.#queue.size > 0 ? 0 : this.#timing.pollMs;
    } catch (error) {
      return ended.aborted ? 0 : this.#fail(error);
    } finally {
      ended.removeEventListener("abort", close);
      session.close();
    }
  }

  /** @throws RuntimeApiError if no server can be set now */
  #requireUsable({ level, isStopping }: HaproxyProcess): void {
    if (isStopping) throw new RuntimeApiError("an old process of HAProxy answers, which is stopping");
    if (level !== "admin")
      throw new RuntimeApiError(`permission denied: the socket needs level admin, and it has level ${level}`);
  }

  /** Lets the servers follow the members, and puts the verdicts that HAProxy does not have back into the queue. */
  async #follow(
    session: RuntimeSession,
    { isNew, version }: { readonly isNew: boolean; readonly version: string },
  ): Promise<void> {
    const reset = await this.#members.follow(session, version);
    const current = this.#context.current();
    this.#queue.putBack(current.filter(({ backend, server }) => isNew || reset.has(`${backend}/${server}`)));
  }

  /** Applies what waits. Reads every backend of a new process, so that wrong names show at once. */
  async #apply(session: RuntimeSession, isNew: boolean): Promise<void> {
    const changes = this.#queue.takeAll();
    const { backends } = this.#config.haproxy;
    const concerned = backends.filter(({ name }) => isNew || changes.some(({ backend }) => backend === name));
    if (concerned.length === 0) return;
    try {
      const states = await readBackends(
        session,
        concerned.map(({ name }) => name),
      );
      for (const [backend, servers] of states) {
        if (servers === null) this.#problems.report(`backend ${backend}`, "HAProxy has no backend of this name");
        else this.#problems.resolve(`backend ${backend}`);
      }
      for (const applied of await applyChanges(session, changes, states))
        this.#record(applied, states.get(applied.change.backend) !== null);
    } catch (error) {
      this.#queue.putBack(changes);
      throw error;
    }
  }

  #record({ change, outcome, hasCut, answer }: AppliedChange, hasBackend: boolean): void {
    const { metrics, log, now } = this.#context;
    const balancer = this.#config.name;
    const subject = `server ${change.backend}/${change.server}`;
    const durationMs = now() - change.atMs;
    metrics.count("balancerPushes", { balancer, outcome });
    if (outcome === "pushed") metrics.observe("balancerPushDurations", { balancer }, durationMs);
    if (hasCut) metrics.count("balancerCuts", { balancer });
    const missing = outcome === "missing" ? this.#members.whyMissing(change.backend, change.server) : null;
    if (missing !== null) {
      if (hasBackend) this.#problems.report(subject, missing);
    } else if (outcome === "unchecked")
      this.#problems.report(subject, "HAProxy does not check this server, so nothing would correct a push");
    else if (outcome === "refused") this.#problems.report(subject, `HAProxy refused the command: ${answer ?? ""}`);
    else this.#problems.resolve(subject);
    if (outcome !== "pushed") return;
    this.#pushedAtMs = now();
    const { backend, server, target, weight } = change;
    const set = { ...(target === null ? {} : { target }), ...(weight === null ? {} : { weight_percent: weight }) };
    const fields = { balancer, backend, server, ...set, sessions_closed: hasCut, duration_ms: Math.round(durationMs) };
    log.info(fields, "balancer updated");
  }

  #begin(process: HaproxyProcess): void {
    const { log } = this.#context;
    const fields = { balancer: this.#config.name, version: process.version };
    log.info(fields, this.#process === null ? "balancer connected" : "balancer has a new process: all servers updated");
    this.#process = process;
  }

  #succeed(): void {
    this.#failures = 0;
    this.#isUp = true;
    this.#problems.resolve("runtime API");
    this.#context.metrics.set("balancerUp", { balancer: this.#config.name }, 1);
  }

  #fail(error: unknown): number {
    this.#isUp = false;
    const { metrics } = this.#context;
    const balancer = this.#config.name;
    metrics.set("balancerUp", { balancer }, 0);
    metrics.count("balancerPushes", { balancer, outcome: "failed" }, this.#queue.countSince(this.#failedAtMs));
    this.#failedAtMs = this.#context.now();
    this.#problems.report("runtime API", errorMessage(error));
    this.#failures += 1;
    const [firstMs, maxMs] = this.#timing.retryMs;
    return backoffMs({ firstMs, maxMs, failures: this.#failures });
  }
}

/** The name of the server that is a node. */
function serverOf(servers: Readonly<Record<string, string>> | null, node: string): string {
  const named = Object.entries(servers ?? {}).find(([, other]) => other === node);
  return named?.[0] ?? node;
}

/** @returns why new sessions of a backend do not go to this server alone; `null` if they do */
function wrongServer(
  states: ReadonlyMap<string, ServerState> | null | undefined,
  backend: string,
  server: string,
): string | null {
  if (states === null || states === undefined) return `HAProxy has no backend ${backend}`;
  const running = [...states].flatMap(([name, { operational }]) => (operational === "running" ? [name] : []));
  if (running.length === 1 && running[0] === server) return null;
  return `${backend} of HAProxy leads to ${running.length === 0 ? "no server" : running.join(", ")}`;
}
