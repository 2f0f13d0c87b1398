// Loaded before virtual time runs: what is imported later takes real time.
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import type { Machine } from "../../../src/app/machine/machine.ts";
import { Monitor } from "../../../src/app/monitor.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import type { OpenDcsSource } from "../../../src/core/dcs/dcs-source.ts";
import { dcsSources } from "../../../src/core/feature/offers.ts";
import { readFeedMessage } from "../../../src/features/follow/feed/feed-messages.ts";
import type { FeedSink } from "../../../src/features/follow/follower/feed-connection.ts";
import { type FeedTransport, feedTransports } from "../../../src/features/follow/open-follow.ts";
import type { Feeds } from "../../../src/features/follow/owner/feeds.ts";
import type { FeedOutlet } from "../../../src/features/follow/owner/feed-stream.ts";
import type { FeatureCall } from "../../../src/core/http/admin-api/admin-api.ts";
import type { NodeConnection, NodeReply } from "../../../src/core/probe/client/client.ts";
import { silentLogger } from "../../../test/fake/silent-logger.ts";
import type { Chance } from "../chance.ts";
import { withOwnClock } from "./machine.ts";
import { timedOut } from "./network-failures.ts";
import { metrics } from "./subject-metrics.ts";
import { callOf } from "./virtual-listener.ts";
import type { OwnerLife } from "./plan.ts";
import type { SeenTime, VirtualTime } from "./virtual-time.ts";

/** Who follows: the subject. */
const caller = { name: "subject", principal: null, mayFollow: () => true, mayDrain: () => false };

/** What an owner is made of. */
export interface OwnerParts {
  readonly config: Config;
  readonly machine: Machine;
  readonly openDcs: OpenDcsSource;
  /** What happens to it. */
  readonly life: Exclude<OwnerLife, "pair"> | "restarting";
  /** How long after a mishap a follower may still judge by what it had then, in ms. */
  readonly settlingMs: number;
  readonly time: VirtualTime;
  readonly chance: Chance;
  /** Called when something happens to it. */
  readonly onMishap: (text: string) => void;
}

/** What happens to the owner and its stream, and for how long at most, in ms. */
const mishaps = {
  /** The stream delivers nothing, and everything afterwards. */
  stall: 8_000,
  /** The stream is cut. */
  break: 0,
  /** It reaches nobody, and nobody reaches it. */
  lost: 20_000,
  /** It cannot reach one node. */
  cut: 20_000,
  /** It reaches no node. */
  isolated: 15_000,
} as const;
/** `restart`: another process takes its place, which knows nothing. */
type Mishap = keyof typeof mishaps | "restart";
const roughly: readonly Mishap[] = ["stall", "break", "lost", "cut", "isolated"];
/** When it dies, at the earliest and at the latest, in ms. */
const diesMs = { least: 15_000, most: 35_000 } as const;
/** The promises that hold whatever happens to who is followed. */
export const unexcused: readonly string[] = [
  "consistent",
  "yes-fresh",
  "one-primary",
  "standby",
  "head",
  "ordinary-path",
  "agent",
  "explain",
  "push",
  "worker",
];
/** How long it is between two mishaps on average, in ms. */
const everyMs = 15_000;

/** A rolecall that probes the cluster and feeds the subject, over a stream that has faults. */
export class VirtualOwner {
  readonly #parts: OwnerParts;
  #monitor: Monitor;
  /** What its followers are fed by; `null` before one of them has asked. */
  #feeds: Feeds | null = null;
  readonly #streams = new Set<VirtualStream>();
  /** Until when each mishap lasts, in virtual ms. */
  readonly #untilMs = new Map<Mishap, number>();
  #cutOrigin: string | null = null;
  #isCalm = false;
  #isDead = false;
  /** Whether a process that knows nothing has taken its place. */
  #isNew = false;
  /** From when on nothing that has happened to it matters, in virtual ms. */
  #settledMs = 0;

  constructor(parts: OwnerParts) {
    this.#parts = parts;
    const { life, time, chance } = parts;
    this.#monitor = this.#build();
    if (life === "rough" || life === "restarting") this.#mishapLater();
    if (life === "dead")
      time.after("world", diesMs.least + (diesMs.most - diesMs.least) * chance.next(), () => void this.#die());
  }

  /**
   * Whether a promise does not hold for a follower now: how often nodes are asked is one of who probes; and what the
   * owner knows may be on its way. A yes from old evidence, and one for two nodes, is never excused.
   */
  excuses(rule: string): boolean {
    if (rule === "probed") return true;
    return !unexcused.includes(rule) && this.#parts.time.nowMs < this.#settledMs;
  }

  /** Whether it is alive, and the process that began. */
  get remembers(): boolean {
    return !this.#isDead && !this.#isNew;
  }

  /** A follower may judge by what it had for some time from now on, in ms. */
  settle(forMs: number): void {
    this.#settledMs = Math.max(this.#settledMs, this.#parts.time.nowMs + forMs);
  }

  /** Starts probing. */
  async begin(): Promise<void> {
    await this.#monitor.restore();
    await this.#monitor.start();
  }

  async stop(): Promise<void> {
    if (!this.#isDead) await this.#monitor.stop();
  }

  /** From now on nothing happens to it: the faults of the episode are over. */
  calm(isCalm: boolean): void {
    this.#isCalm = isCalm;
    if (isCalm && !this.#isDead) this.#untilMs.clear();
  }

  /** How the subject opens a stream. */
  readonly openFeed: FeedTransport["open"] = () => (request, sink) => {
    const stream = new VirtualStream(sink, {
      time: this.#parts.time,
      delayMs: () => this.#delayMs(),
      isLost: () => this.#suffers("lost"),
    });
    this.#streams.add(stream);
    stream.after(() => void this.#accept(stream, request));
    return {
      echo: (id, token) => stream.after(() => void this.#feeds?.echo({ stream: id, token }, caller)),
      select: (selection) => stream.after(() => void this.#feeds?.select(selection, caller)),
      drain: () => Promise.reject(new Error("no operator drains here")),
      close: () => this.#forget(stream),
    };
  };

  #build(): Monitor {
    const { config, machine, openDcs } = this.#parts;
    const connect: Machine["connect"] = (origin, ...rest) => this.#guarded(origin, machine.connect(origin, ...rest));
    const monitor = new Monitor(config, { log: silentLogger, machine: { ...withOwnClock(machine), connect }, metrics });
    this.#feeds = null;
    const serve = (feeds: Feeds): void => {
      this.#feeds = feeds;
    };
    dcsSources.bring(monitor.offers, openDcs);
    feedTransports.bring(monitor.offers, { open: () => () => assert.fail("an owner follows nobody"), serve });
    return monitor;
  }

  async #restart(): Promise<void> {
    this.#isNew = true;
    await this.#monitor.stop();
    this.#monitor = this.#build();
    await this.begin();
  }

  async #die(): Promise<void> {
    this.#isDead = true;
    this.#endures("lost", Infinity);
    this.settle(this.#parts.settlingMs);
    await this.#monitor.stop();
  }

  async #accept(stream: VirtualStream, request: unknown): Promise<void> {
    // Who asks opens them.
    await this.#monitor.features.routes.get("feed")?.({ call: callOf("GET", "/feed") } as FeatureCall);
    const opened = this.#feeds?.open(request, caller, () => stream) ?? { kind: "refused", problem: "no answer" };
    if (opened.kind === "open") stream.onClosed = opened.ended;
    else stream.fail(opened.problem);
  }

  #forget(stream: VirtualStream): void {
    this.#streams.delete(stream);
    stream.close();
  }

  #suffers(mishap: Mishap): boolean {
    return (this.#untilMs.get(mishap) ?? -Infinity) > this.#parts.time.nowMs;
  }

  #delayMs(): number {
    const { time, chance } = this.#parts;
    const stalledMs = Math.max(0, (this.#untilMs.get("stall") ?? 0) - time.nowMs);
    return stalledMs + 0.2 + 3 * chance.next();
  }

  #guarded(origin: string, connection: NodeConnection): NodeConnection {
    const isCut = (): boolean => this.#suffers("isolated") || (this.#suffers("cut") && this.#cutOrigin === origin);
    const late = (): Promise<NodeReply> =>
      new Promise((resolve) => {
        this.#parts.time.after("delivery", this.#parts.config.probe.timeoutMs, () => resolve(timedOut));
      });
    return {
      get: (...request) => {
        this.#cutOrigin ??= origin;
        return isCut() ? late() : connection.get(...request);
      },
      getStreamed: (...request) => connection.getStreamed(...request),
      close: () => connection.close(),
    };
  }

  #mishapLater(): void {
    const { time, chance } = this.#parts;
    time.after("world", everyMs * 2 * chance.next(), () => {
      const kinds: readonly Mishap[] = this.#parts.life === "restarting" ? [...roughly, "restart"] : roughly;
      if (!this.#isCalm) this.#suffer(chance.pick(kinds));
      this.#mishapLater();
    });
  }

  #suffer(mishap: Mishap): void {
    const { chance, settlingMs } = this.#parts;
    if (mishap === "cut") this.#cutOrigin = null;
    const forMs = mishap === "restart" ? 0 : mishaps[mishap] * chance.next();
    this.settle(forMs + settlingMs);
    this.#endures(mishap, forMs);
    if (mishap === "restart") void this.#restart();
  }

  #endures(mishap: Mishap, forMs: number): void {
    this.#untilMs.set(mishap, this.#parts.time.nowMs + forMs);
    this.#parts.onMishap(`${mishap} for ${(forMs / 1_000).toFixed(1)} s`);
    if (mishap === "stall" || mishap === "cut" || mishap === "isolated") return;
    for (const stream of this.#streams) stream.fail("the stream was cut");
  }
}

interface StreamParts {
  /** That of the follower. */
  readonly time: SeenTime;
  /** That of the owner, if it is another one. */
  readonly ownersTime?: SeenTime;
  /** How long a message takes now, in ms. */
  readonly delayMs: () => number;
  readonly isLost: () => boolean;
}

/** One stream, which keeps the order of its messages. */
export class VirtualStream implements FeedOutlet {
  readonly waiting = 0;
  readonly #sink: FeedSink;
  readonly #parts: StreamParts;
  #isClosed = false;
  #lastMs = -Infinity;
  onClosed: () => void = () => {};

  constructor(sink: FeedSink, parts: StreamParts) {
    this.#sink = sink;
    this.#parts = parts;
  }

  write(bytes: Buffer): boolean {
    if (this.#parts.isLost()) return true;
    const atMs = Math.max(this.#lastMs, this.#parts.time.nowMs + this.#parts.delayMs());
    this.#lastMs = atMs;
    this.#parts.time.after("delivery", atMs - this.#parts.time.nowMs, () => {
      if (this.#isClosed) return;
      this.#sink.onBytes(bytes.length);
      for (const line of gunzipSync(bytes).toString().split("\n")) {
        const message = line === "" ? null : readFeedMessage(JSON.parse(line));
        if (message !== null) this.#sink.onMessage(message);
      }
    });
    return true;
  }

  end(): void {
    this.fail("the stream has ended");
  }

  /** Something on its way to the owner. */
  after(run: () => void): void {
    const { time, ownersTime = time, delayMs } = this.#parts;
    ownersTime.after("delivery", delayMs(), () => {
      if (this.#parts.isLost()) this.fail("no answer");
      else if (!this.#isClosed) run();
    });
  }

  /** The stream ends for the follower. */
  fail(problem: string): void {
    if (this.#isClosed) return;
    this.close();
    this.#parts.time.after("delivery", 0.2, () => this.#sink.onEnd(problem));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onClosed();
  }
}
