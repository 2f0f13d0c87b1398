import type { TestContext } from "node:test";
import type { FailureKind } from "../../src/cluster/values/failure.ts";
import type { ProbeOutcome } from "../../src/cluster/outcome.ts";
import { NodeClient, type NodeReply } from "../../src/probe/client/client.ts";
import type { ProbeResult, ProbeContext } from "../../src/probe/client/probe-context.ts";
import { statusOf, Watched } from "./watched.ts";

/** What a scripted cluster answers to a path at an origin; a promise that never settles hangs. */
export type Script = (origin: string, path: string) => NodeReply | Promise<NodeReply>;

/** Probing over a script instead of sockets, in time that a test moves by hand. */
export class Scripted {
  readonly watched: Watched;
  readonly recorded: ProbeOutcome[] = [];
  readonly result: ProbeResult[] = [];
  /** Every question as it was sent: `1000 http://pg1:8008/leader`. */
  readonly sent: { readonly atMs: number; readonly url: string }[] = [];
  readonly closed: string[] = [];
  script: Script;
  random = 0.5;
  nowMs = 0;
  /** Told of each new part; a cluster prober's `follow` goes here. */
  onPart: (before: Watched["cluster"], after: Watched["cluster"]) => void = () => {};
  readonly #timers: TestContext["mock"]["timers"];

  constructor(context: TestContext, watched: Watched, script: Script) {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    this.#timers = context.mock.timers;
    this.watched = watched;
    this.script = script;
  }

  probing(pace: Partial<ProbeContext["schedule"]> = {}): ProbeContext {
    return {
      cluster: "demo",
      schedule: {
        intervalMs: 1_000,
        livenessIntervalMs: 10_000,
        clusterIntervalMs: 3_000,
        configIntervalMs: 30_000,
        metricsIntervalMs: 3_000,
        timeoutMs: 2_500,
        fall: 3,
        ...pace,
      },
      policy: this.watched.policy,
      state: () => this.watched.cluster,
      record: (outcome) => {
        const before = this.watched.cluster;
        this.recorded.push(outcome);
        this.onPart(before, this.watched.tell(outcome, this.nowMs));
      },
      now: () => this.nowMs,
      wall: () => 1_700_000_000_000 + this.nowMs,
      random: () => this.random,
      connect: (origin) => new ScriptedClient(origin, this),
      onProbeFinished: (result) => this.result.push(result),
    };
  }

  /** The instants at which a question was sent, in ms. */
  sentAt(end: string): readonly number[] {
    return this.sent.filter(({ url }) => url.endsWith(end)).map(({ atMs }) => atMs);
  }

  /** Lets time pass, and everything happen that is due in it, in steps of 50 ms. */
  async pass(ms: number): Promise<void> {
    await turn();
    for (let passed = 0; passed < ms; passed += 50) {
      this.nowMs += 50;
      this.#timers.tick(50);
      await turn();
    }
  }
}

class ScriptedClient extends NodeClient {
  readonly #origin: string;
  readonly #scripted: Scripted;

  constructor(origin: string, scripted: Scripted) {
    super(origin, { connectTimeoutMs: 1, timeoutMs: 1 }, null);
    this.#origin = origin;
    this.#scripted = scripted;
  }

  override async get(path: string): Promise<NodeReply> {
    this.#scripted.sent.push({ atMs: this.#scripted.nowMs, url: `${this.#origin}${path}` });
    return this.#scripted.script(this.#origin, path);
  }

  override close(): void {
    this.#scripted.closed.push(this.#origin);
    super.close();
  }
}

export function json(value: unknown, status = 200): NodeReply {
  return { status, body: Buffer.from(JSON.stringify(value)) };
}

export function failed(kind: FailureKind): NodeReply {
  return { failure: { kind, detail: `a scripted ${kind}` } };
}

/** A healthy cluster of the given names, the first of which leads, at `http://{name}:8008`. */
export function healthy(names: readonly string[]): Script {
  return (origin, path) => {
    const name = new URL(origin).hostname;
    switch (path) {
      case "/leader":
        return json(statusOf(name, name === names[0] ? { role: "primary" } : {}), name === names[0] ? 200 : 503);
      case "/liveness":
        return { status: 200, body: Buffer.alloc(0) };
      case "/cluster":
        return json({
          scope: "demo",
          members: names.map((member, at) => ({
            name: member,
            role: at === 0 ? "leader" : "replica",
            api_url: `http://${member}:8008/patroni`,
          })),
        });
      case "/config":
        return json({ ttl: 1_000 });
      case "/history":
        return json([]);
      default:
        return { status: 502, body: Buffer.alloc(0) };
    }
  };
}

export function never(): Promise<NodeReply> {
  return new Promise(() => {});
}

/** Lets everything run that is ready. */
export async function turn(): Promise<void> {
  for (let time = 0; time < 10; time += 1) await new Promise((resolve) => void setImmediate(resolve));
}
