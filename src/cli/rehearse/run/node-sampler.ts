import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../../cluster/values/json.ts";
import { parsePythonJson } from "../../../cluster/values/python-json.ts";
import type { RolecallClient } from "../../client/rolecall-client.ts";
import type { RolecallReply } from "../../connect/exchange.ts";
import type { ConnectionTarget } from "../database/connection-target.ts";
import { DatabaseSession } from "../database/database-session.ts";
import type { AnswerValue, DocumentValue, NodeRecording, RecoveryValue } from "../measure/recording.ts";
import { Track } from "../measure/track.ts";

/** Time between two questions to rolecall about a node, in ms. */
export const answerIntervalMs = 20;
/** Time between two queries of a node's database, in ms. */
export const recoveryIntervalMs = 10;
/** How long a node's database may take to answer one query, in ms. */
const recoveryTimeoutMs = 1_000;
/** The most gaps between reports that are kept. */
const gapsMax = 100;

/** What to sample of one node. */
export interface SampledNode {
  readonly cluster: string;
  readonly node: string;
  /** Its own database, if `--node-dsn` names it. */
  readonly target: ConnectionTarget | null;
}

/**
 * Samples one node until it is stopped: rolecall's answer to `/primary`, the node's document that comes with it, and
 * `pg_is_in_recovery()` of its database. One request of each kind is in flight at a time.
 */
export class NodeSampler {
  readonly #node: SampledNode;
  readonly #answers = new Track<AnswerValue>();
  readonly #documents = new Track<DocumentValue>();
  readonly #recovery = new Track<RecoveryValue>();
  readonly #reportGapsMs: number[] = [];
  #observedAtMs: number | null = null;

  constructor(node: SampledNode) {
    this.#node = node;
  }

  get recording(): NodeRecording {
    return {
      node: this.#node.node,
      answers: this.#answers.segments,
      documents: this.#documents.segments,
      recovery: this.#recovery.segments,
    };
  }

  /** The times between the reports of the node that rolecall has received so far, in ms. */
  get reportGapsMs(): readonly number[] {
    return this.#reportGapsMs;
  }

  /** Samples until the signal. Never rejects. */
  async run(server: RolecallClient, signal: AbortSignal): Promise<void> {
    const { target } = this.#node;
    await Promise.all([
      repeat(answerIntervalMs, signal, () => this.#askRolecall(server)),
      target === null ? null : this.#askDatabase(target, signal),
    ]);
  }

  async #askRolecall(server: RolecallClient): Promise<void> {
    const { cluster, node } = this.#node;
    const path = `/clusters/${encodeURIComponent(cluster)}/nodes/${encodeURIComponent(node)}/primary`;
    const reply = await server.get(path).catch(() => null);
    const atMs = performance.now();
    this.#answers.add(atMs, reply === null ? "no answer" : answerOf(reply));
    const document = reply === null ? undefined : parsePythonJson(reply.text);
    if (!isObject(document)) return;
    const observedAtMs = Date.parse(String(isObject(document["rolecall"]) ? document["rolecall"]["observed_at"] : ""));
    // The same report again says nothing new: the track would claim a better resolution than it has.
    if (observedAtMs === this.#observedAtMs) return;
    if (this.#observedAtMs !== null && observedAtMs > this.#observedAtMs && this.#reportGapsMs.length < gapsMax)
      this.#reportGapsMs.push(observedAtMs - this.#observedAtMs);
    this.#observedAtMs = Number.isNaN(observedAtMs) ? null : observedAtMs;
    this.#documents.add(atMs, documentValue(document["role"], document["state"]));
  }

  /** Keeps one connection, and opens another one as soon as it breaks. */
  async #askDatabase(target: ConnectionTarget, signal: AbortSignal): Promise<void> {
    const limits = { timeoutMs: recoveryTimeoutMs, signals: [signal] };
    const open: DatabaseSession[] = [];
    await repeat(recoveryIntervalMs, signal, async () => {
      try {
        if (open.length === 0) open.push(await DatabaseSession.open(target, limits));
        const [row] = (await open[0]?.query("SELECT pg_is_in_recovery()::text AS recovering", limits)) ?? [];
        this.#recovery.add(performance.now(), row?.["recovering"] === "true" ? "replica" : "primary");
      } catch {
        open.pop()?.close();
        if (!signal.aborted) this.#recovery.add(performance.now(), "unreachable");
      }
    });
    open.pop()?.close();
  }
}

/** Repeats work until the signal. The next round begins `intervalMs` after the last one began, or when it ends. */
async function repeat(intervalMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    const dueMs = performance.now() + intervalMs;
    await work();
    await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal }).catch(() => {});
  }
}

function answerOf({ status, headers }: RolecallReply): AnswerValue {
  if (status === 200) return "yes";
  const reason = headers["x-rolecall-reason"];
  return typeof reason === "string" && reason !== "" ? reason : String(status);
}

/** Whether a status document is that of a running primary. Older versions of Patroni call the role `master`. */
function documentValue(role: unknown, state: unknown): DocumentValue {
  if (role === "unknown" || typeof role !== "string") return "unknown";
  return (role === "primary" || role === "master") && state === "running" ? "writable" : "not writable";
}
