import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandContext } from "../framework/command-context.ts";
import { CommandError } from "../framework/command-error.ts";
import { withSession } from "./database/database-session.ts";
import { createSchema, removeSchema, writesTable } from "./database/rehearsal-schema.ts";
import type { Recording } from "./measure/recording.ts";
import type { RehearsalPlan, RehearsalServers } from "./plan.ts";
import { rehearsalRefusal } from "./rehearsal-refusal.ts";
import { NodeSampler } from "./run/node-sampler.ts";
import { requestSwitchover, runKillCommand, type OutageRequest } from "./run/outage.ts";
import { causeOf, PoolWriter } from "./run/pool-writer.ts";
import { waitForRecovery } from "./run/recovery-watch.ts";

/** How long writes and samples run before the request, in ms. */
const baselineMs = 2_000;
/** How long making the schema and reading the table may take, in ms. */
const statementTimeoutMs = 10_000;
/** How long the removal of the schema is retried, in ms. */
const removalDeadlineMs = 30_000;
/** How long the schema must be gone if a primary may still change, in ms. */
const goneForMs = 2_000;

/** What a rehearsal measured. */
export interface Rehearsed {
  readonly recording: Recording;
  /** The wall clock at the request. */
  readonly requestedAt: Date;
  readonly request: OutageRequest;
  /** What was missing at the deadline; `null` if the cluster recovered. */
  readonly missing: string | null;
  /** When the cluster had recovered, or the deadline, in ms after the request. */
  readonly endedAfterMs: number;
  /** The numbers of the writes that the table held at the end; `null` if it could not be read. */
  readonly present: ReadonlySet<number> | null;
  readonly skippedWrites: number;
  /** The usual time between two reports of a node before the request, in ms; `null` if it was not seen. */
  readonly probeIntervalMs: number | null;
}

/** A rehearsal: a schema, writes through the pool, samples of the nodes, and one outage in the middle. */
export class Rehearsal {
  readonly #context: CommandContext;
  readonly #plan: RehearsalPlan;
  readonly #servers: RehearsalServers;
  readonly #writer: PoolWriter;
  readonly #samplers: readonly NodeSampler[];
  /** Until the cluster has recovered, the next primary may not have received a removal. */
  #isSettled = true;

  constructor(context: CommandContext, plan: RehearsalPlan, servers: RehearsalServers) {
    this.#context = context;
    this.#plan = plan;
    this.#servers = servers;
    const { options, pool, schema, cluster } = plan;
    this.#writer = new PoolWriter({
      target: pool.target,
      schema,
      intervalMs: options.writeIntervalMs,
      timeoutMs: options.writeTimeoutMs,
    });
    this.#samplers = cluster.nodes.map(
      ({ node }) => new NodeSampler({ cluster: cluster.cluster, node, target: pool.nodeTargets.get(node) ?? null }),
    );
  }

  /**
   * Runs the rehearsal. The schema may exist afterwards, whatever happens: {@link remove} removes it.
   * @throws CommandError (RC140) if writes fail before the request, (RC004) if a signal ended it
   */
  async run(): Promise<Rehearsed> {
    const { signal, progress } = this.#context;
    const { pool, schema } = this.#plan;
    const sampling = new AbortController();
    const stop = (): void => {
      sampling.abort();
      this.#writer.cut();
    };
    // Each sample in flight listens to them.
    setMaxListeners(0, signal, sampling.signal);
    signal.addEventListener("abort", stop, { once: true });
    progress.report("making the schema");
    try {
      this.#isSettled = false;
      await createSchema(pool.target, schema, { timeoutMs: statementTimeoutMs, signals: [signal] }).catch(
        (error: unknown) => {
          throw this.#orInterruption(rehearsalRefusal(`the schema ${schema} cannot be made: ${causeOf(error)}`));
        },
      );
      this.#isSettled = true;
      const samples = this.#samplers.map((sampler) => sampler.run(this.#servers.health, sampling.signal));
      this.#writer.start();
      return await this.#measure().finally(async () => {
        sampling.abort();
        await Promise.all([...samples, this.#writer.stop()]);
      });
    } finally {
      signal.removeEventListener("abort", stop);
      progress.done();
    }
  }

  /** Removes the schema. Retries with a deadline, whatever ended the rehearsal. @returns `null`, or the problem */
  remove(): Promise<string | null> {
    const { pool, schema } = this.#plan;
    return removeSchema(pool.target, {
      schema,
      deadlineMs: removalDeadlineMs,
      goneForMs: this.#isSettled ? 0 : goneForMs,
    });
  }

  async #measure(): Promise<Rehearsed> {
    const { signal, progress } = this.#context;
    const { options, cluster, leader } = this.#plan;
    progress.report("writing through the pool before the outage");
    await sleep(baselineMs, undefined, { signal }).catch(() => {});
    this.#requireWrites();
    const probeIntervalMs = median(this.#samplers.flatMap(({ reportGapsMs }) => reportGapsMs));
    this.#isSettled = false;
    const requestedAtMs = performance.now();
    const requestedAt = new Date();
    progress.report(options.cause.kind === "kill" ? "killing the leader" : "switching over");
    const request = await this.#request();
    progress.report("waiting until writes flow and the cluster is whole");
    const nodes = cluster.nodes.filter(({ node, reason }) => reason === null && this.#mustReturn(node));
    const missing = await waitForRecovery(
      this.#servers.admin,
      {
        cluster: cluster.cluster,
        // A switchover that was refused changes nothing.
        oldLeader: request.problem === null ? leader : "",
        nodes: nodes.map(({ node }) => node),
        endMs: requestedAtMs + options.deadlineMs,
      },
      {
        signal,
        attempts: () => this.#writer.attempts.filter(({ startedAtMs }) => startedAtMs >= requestedAtMs),
      },
    );
    const endedAfterMs = performance.now() - requestedAtMs;
    this.#isSettled = missing === null;
    await this.#writer.stop();
    return {
      recording: {
        requestedAtMs,
        leader,
        nodes: this.#samplers.map(({ recording }) => recording),
        attempts: this.#writer.attempts,
        writeIntervalMs: options.writeIntervalMs,
      },
      requestedAt,
      request,
      missing,
      endedAfterMs,
      present: await this.#readTable(),
      skippedWrites: this.#writer.skipped,
      probeIntervalMs,
    };
  }

  #request(): Promise<OutageRequest> {
    const { options, call, leader } = this.#plan;
    if (options.cause.kind === "kill") return runKillCommand(options.cause.command, leader, this.#context.signal);
    if (call === null) throw new TypeError("a switchover needs its management call");
    return requestSwitchover(this.#servers.management, call);
  }

  /** Nobody restarts a leader that was killed: the rehearsal does not wait for it. */
  #mustReturn(node: string): boolean {
    return this.#plan.options.cause.kind === "switchover" || node !== this.#plan.leader;
  }

  #requireWrites(): void {
    this.#throwIfInterrupted();
    const failed = this.#writer.attempts.findLast(({ outcome }) => outcome !== "acknowledged");
    const isWriting = this.#writer.attempts.some(({ outcome }) => outcome === "acknowledged");
    if (failed !== undefined) throw rehearsalRefusal(`writes through the pool fail already: ${failed.cause ?? ""}`);
    if (!isWriting) throw rehearsalRefusal(`no write through the pool was acknowledged in ${baselineMs / 1_000} s`);
  }

  async #readTable(): Promise<ReadonlySet<number> | null> {
    const { pool, schema } = this.#plan;
    const limits = { timeoutMs: statementTimeoutMs, signals: [this.#context.signal] };
    try {
      const rows = await withSession(pool.target, limits, (session) =>
        session.query(`SELECT n::text AS n FROM ${writesTable(schema)}`, limits),
      );
      return new Set(rows.map(({ n }) => Number(n)));
    } catch {
      return null;
    }
  }

  #throwIfInterrupted(): void {
    const { signal } = this.#context;
    if (signal.aborted) throw new CommandError("RC004", `ended by ${String(signal.reason)}`);
  }

  #orInterruption(error: CommandError): CommandError {
    const { signal } = this.#context;
    return signal.aborted ? new CommandError("RC004", `ended by ${String(signal.reason)}`) : error;
  }
}

function median(values: readonly number[]): number | null {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? null;
}
