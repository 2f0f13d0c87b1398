import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { listenUntilClosed } from "../../test/fake/listen.ts";
import { type Changes, configurationOf, invalidConfigurationOf, type Parts } from "./configuration.ts";
import type { Action } from "./plan.ts";
import type { Rolecall } from "./rolecall.ts";
import type { Clusters } from "./clusters.ts";

/** What operators do to rolecall. */
export class Operator {
  /** The processes that it killed. */
  readonly killed = new Set<number>();
  /** How often it loaded a valid configuration, and an invalid one. */
  readonly reloads = { valid: 0, invalid: 0 };
  /** The last instant at which connections were cut on purpose. */
  cutMs = -Infinity;
  readonly #parts: Parts;
  readonly #rolecall: Rolecall;
  readonly #clusters: Clusters;
  readonly #config: string;
  #changes: Changes = { hasExtraCluster: false, hasExtraListener: false };
  #queue: Promise<unknown> = Promise.resolve();

  constructor(parts: Parts, rolecall: Rolecall, clusters: Clusters, config: string) {
    this.#parts = parts;
    this.#rolecall = rolecall;
    this.#clusters = clusters;
    this.#config = config;
  }

  /** Applies one action. Reloads come one after the other. */
  do(action: Action): Promise<string> {
    const { kind, variant } = action;
    if (kind === "reload") return this.#enqueue(() => this.#load(null));
    if (kind === "changedReload") return this.#enqueue(() => this.#change(action));
    if (kind === "invalidReload") return this.#enqueue(() => this.#loadInvalid(variant));
    if (kind === "workerKill") return Promise.resolve(this.#killWorker());
    return kind === "drain" ? this.#drain(action) : this.#hint(action);
  }

  #enqueue(act: () => Promise<string>): Promise<string> {
    const done = this.#queue.then(act);
    this.#queue = done.catch(() => {});
    return done;
  }

  async #load(text: string | null): Promise<string> {
    writeFileSync(this.#config, text ?? JSON.stringify(configurationOf(this.#parts, this.#changes)));
    if (text === null) this.reloads.valid += 1;
    this.cutMs = performance.now();
    this.#rolecall.signal("SIGHUP");
    await pause(4_000);
    this.cutMs = performance.now();
    return "sent";
  }

  /** Adds a cluster or a listener and removes it soon: the least figure of each window is then without it. */
  async #change({ variant, lastsMs }: Action): Promise<string> {
    this.#changes = { hasExtraCluster: variant === "cluster", hasExtraListener: variant === "listener" };
    await this.#load(null);
    await pause(lastsMs);
    this.#changes = { hasExtraCluster: false, hasExtraListener: false };
    return this.#load(null);
  }

  async #loadInvalid(variant: string): Promise<string> {
    this.reloads.invalid += 1;
    // A port of the fake etcd would be free during a fault of the DCS.
    const taken = await listenUntilClosed(createServer());
    await this.#load(invalidConfigurationOf(this.#parts, variant, taken.port));
    await taken.close();
    // What a restart would read.
    writeFileSync(this.#config, JSON.stringify(configurationOf(this.#parts, this.#changes)));
    return variant;
  }

  /** Kills the youngest worker: the oldest one lives as long as the soak, so that its figures have a trend. */
  #killWorker(): string {
    const pid = this.#rolecall.workers.at(-1);
    if (pid === undefined || this.#rolecall.workers.length < 2) return "none";
    this.killed.add(pid);
    this.cutMs = performance.now();
    process.kill(pid, "SIGKILL");
    return `${pid}`;
  }

  async #drain({ pick, lastsMs }: Action): Promise<string> {
    const { record } = this.#clusters.all[pick % 3] ?? {};
    if (record === undefined) return "none";
    const node = `pg${(pick % 3) + 1}`;
    const url = `http://127.0.0.1:${this.#parts.ports.admin}/drains/${record.cluster}/${node}`;
    const body = JSON.stringify({ for: "10min", reason: "soak", all: false, by: "soak" });
    const headers = { "Content-Type": "application/json" };
    record.drained.add(node);
    const begun = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(10_000) });
    await pause(lastsMs);
    const ended = await fetch(url, { method: "DELETE", headers, signal: AbortSignal.timeout(10_000) });
    if (!begun.ok || !ended.ok) throw new Error(`Cannot drain ${url}: got ${begun.status}, then ${ended.status}`);
    record.drained.delete(node);
    return `${record.cluster} ${node}: ${begun.status}`;
  }

  async #hint({ variant, pick }: Action): Promise<string> {
    const node = variant === "node" ? `&node=pg${(pick % 3) + 1}` : "";
    const cluster = variant === "invented" ? `x${pick}` : `c${pick % 3}`;
    const url = `http://127.0.0.1:${this.#parts.ports.admin}/hint?cluster=${cluster}${node}`;
    return `${(await fetch(url, { method: "POST", signal: AbortSignal.timeout(10_000) })).status}`;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
