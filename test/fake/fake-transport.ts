import { probeSchedule } from "./probe-schedule.ts";
import type { TestContext } from "node:test";
import type { FailureKind } from "../../src/core/cluster/values/failure.ts";
import type { ProbeOutcome } from "../../src/core/cluster/outcome.ts";
import { NodeClient, type BodySink, type NodeReply, type StreamedReply } from "../../src/core/probe/client/client.ts";
import type { ProbeResult, ProbeContext } from "../../src/core/probe/client/probe-context.ts";
import { ClusterFixture } from "./cluster-fixture.ts";
import { answerProbe, type ProbeAnswer } from "./node-documents.ts";

/** What a scripted cluster answers to a path at an origin; a promise that never settles hangs. */
export type Responder = (origin: string, path: string) => NodeReply | Promise<NodeReply>;

/** A transport that answers probes from a script instead of sockets. The test moves the clock. */
export class FakeTransport {
  readonly fixture: ClusterFixture;
  readonly recorded: ProbeOutcome[] = [];
  readonly results: ProbeResult[] = [];
  /** Every request: when it was sent, and its URL. */
  readonly sent: { readonly atMs: number; readonly url: string }[] = [];
  readonly closed: string[] = [];
  respond: Responder;
  random = 0.5;
  nowMs = 0;
  /** Called with each new state; tests set it to a cluster prober's `onChange`. */
  onState: (before: ClusterFixture["cluster"], after: ClusterFixture["cluster"]) => void = () => {};
  readonly #timers: TestContext["mock"]["timers"];

  constructor(context: TestContext, watched: ClusterFixture, script: Responder) {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    this.#timers = context.mock.timers;
    this.fixture = watched;
    this.respond = script;
  }

  context(pace: Partial<ProbeContext["schedule"]> = {}): ProbeContext {
    return {
      cluster: "demo",
      schedule: { ...probeSchedule, ...pace },
      policy: () => this.fixture.policy,
      state: () => this.fixture.cluster,
      record: (outcome) => {
        const before = this.fixture.cluster;
        this.recorded.push(outcome);
        this.onState(before, this.fixture.record(outcome, this.nowMs));
      },
      now: () => this.nowMs,
      wall: () => 1_700_000_000_000 + this.nowMs,
      random: () => this.random,
      connect: (origin) => new ScriptedClient(origin, this),
      // The default would connect to the node's name, outside the script and its clock.
      isTlsServer: () => Promise.resolve(false),
      onProbeFinished: (result) => this.results.push(result),
    };
  }

  /** When the requests whose URL ends so were sent, in ms. */
  sentAt(end: string): readonly number[] {
    return this.sent.filter(({ url }) => url.endsWith(end)).map(({ atMs }) => atMs);
  }

  /** Moves the clock in steps, and runs what becomes due. */
  async advance(ms: number, stepMs = 50): Promise<void> {
    await runPendingTasks();
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.nowMs += stepMs;
      this.#timers.tick(stepMs);
      await runPendingTasks();
    }
  }
}

class ScriptedClient extends NodeClient {
  readonly #origin: string;
  readonly #scripted: FakeTransport;

  constructor(origin: string, scripted: FakeTransport) {
    super(origin, { connectTimeoutMs: 1, timeoutMs: 1 }, null);
    this.#origin = origin;
    this.#scripted = scripted;
  }

  override async get(path: string): Promise<NodeReply> {
    this.#scripted.sent.push({ atMs: this.#scripted.nowMs, url: `${this.#origin}${path}` });
    return this.#scripted.respond(this.#origin, path);
  }

  override async getStreamed(path: string, { onData }: BodySink): Promise<StreamedReply> {
    const reply = await this.get(path);
    if ("failure" in reply) return reply;
    onData(reply.body);
    return { status: reply.status };
  }

  override close(): void {
    this.#scripted.closed.push(this.#origin);
    super.close();
  }
}

export function jsonReply(value: unknown, status = 200): NodeReply {
  return { status, body: Buffer.from(JSON.stringify(value)) };
}

export function failedReply(kind: FailureKind): NodeReply {
  return { failure: { kind, detail: `a scripted ${kind}` } };
}

/** Answers as a healthy cluster of the given names at `http://{name}:8008`. The first one leads. */
export function healthyCluster(names: readonly string[]): Responder {
  const members = new Map(names.map((name) => [name, `http://${name}:8008`]));
  return (origin, path) => {
    const { hostname: name } = new URL(origin);
    if (path === "/config") return jsonReply({ ttl: 1_000 });
    const { status, document } = answerProbe({ name, leader: names[0] ?? "", members, fields: {} }, path) ?? notServed;
    return document === undefined ? { status, body: Buffer.alloc(0) } : jsonReply(document, status);
  };
}

/** Answers as `healthyCluster`, except to one path. */
export function healthyExcept(names: readonly string[], path: string, answer: Responder): Responder {
  const healthy = healthyCluster(names);
  return (origin, requested) => (requested === path ? answer : healthy)(origin, requested);
}

const notServed: ProbeAnswer = { status: 502 };

export function neverReplies(): Promise<NodeReply> {
  return new Promise(() => {});
}

/** Runs all tasks that are ready. */
export async function runPendingTasks(): Promise<void> {
  for (let time = 0; time < 10; time += 1) await new Promise((resolve) => void setImmediate(resolve));
}
