import { indexedByName } from "../../../core/cluster/lookup.ts";
import { isDeepStrictEqual } from "node:util";
import type { ProbeOutcome } from "../../../core/cluster/outcome.ts";
import type { ClusterState } from "../../../core/cluster/snapshot.ts";
import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import { isObject } from "../../../core/cluster/values/json.ts";
import { type ClockReading, instantOf } from "../../../core/state/clock.ts";
import { clusterStateSchema, stateForm } from "../feed/cluster-state-schema.ts";
import { ChangeDecoder, type MessageTime } from "../feed/change-codec.ts";
import {
  type DrainOrder,
  type FeedMessage,
  type FeedRefusal,
  type FeedRequest,
  type OrderedDrain,
  type WantedCluster,
} from "../feed/feed-messages.ts";
import { feedProtocol } from "../../../core/config/outcome-shape.ts";
import { SendingBound } from "../feed/sending-bound.ts";
import type { FeedConnection, OpenFeed } from "./feed-connection.ts";

/** What an upstream delivers. All instants are in ms of the follower's clock. */
export interface UpstreamEvents {
  readonly onOutcome: (upstream: string, outcome: ProbeOutcome) => void;
  /** The state that an upstream has of a cluster; `null`: in a form that this version does not know. */
  readonly onFull: (upstream: string, cluster: string, state: ClusterState | null) => void;
  /** Its state has changed: for logs. */
  readonly onState: (upstream: string, state: UpstreamState) => void;
}

/** What an upstream depends on. */
export interface UpstreamContext extends UpstreamEvents {
  /** Its name: the address without a path. */
  readonly name: string;
  readonly open: OpenFeed;
  readonly self: Pick<FeedRequest, "version" | "name">;
  /** rolecall's clock, in ms. */
  readonly now: () => number;
  /** Reads rolecall's clock, and looks for a gap first. */
  readonly reading: () => ClockReading;
  readonly wall: () => number;
  readonly setTimer: SetTimer;
  /** A number from 0 up to 1. */
  readonly random: () => number;
  /** How often a token is sent, in ms. */
  readonly echoEveryMs: number;
}

/** Where the stream of an upstream is. */
export type UpstreamState =
  /** `problem`: why the stream before has ended, or did not begin. */
  | { readonly kind: "connecting"; readonly problem: string | null }
  /** It sends the clusters in full, or all was sent. `version`: that of the upstream. `refused`: what it does not feed. */
  | { readonly kind: "starting" | "live"; readonly version: string; readonly refused: readonly FeedRefusal[] }
  | { readonly kind: "waiting"; readonly problem: string }
  | { readonly kind: "stopped" };

/** What belongs to one stream. */
interface Session {
  readonly connection: FeedConnection;
  readonly bound: SendingBound;
  /** The name that the upstream gave the stream; `null` before its first message. */
  stream: string | null;
  /** When each token was sent that has not come back. */
  readonly tokens: Map<number, ClockReading>;
  /** The clusters that it was asked for last, by name. */
  asked: ReadonlyMap<string, WantedCluster>;
  /** Whether it may be asked for others. */
  canMove: boolean;
}

/** Pauses between tries to connect, in ms: doubled after each that failed. */
const retry = { firstMs: 250, mostMs: 5_000 } as const;
/** A stream that has brought nothing for so long, in ms, is opened anew: tokens come back far sooner. */
const silenceMaxMs = 10_000;
/** So does one whose first message has not come after so long, in ms. */
const beginMaxMs = 8_000;
/** More tokens than come back in time. */
const tokensMax = 32;

/** The stream from one upstream: it is opened again when it ends, and continues where it was if it can. */
export class Upstream {
  readonly #context: UpstreamContext;
  readonly #decoder = new ChangeDecoder();
  #state: UpstreamState = { kind: "connecting", problem: null };
  #session: Session | null = null;
  /** Of what it has sent last: when it was sent at the earliest, and when it came. */
  #heardAtMs = -Infinity;
  #arrivedAtMs = -Infinity;
  #receivedBytes = 0;
  /** Of the state that is being read: when it was sent, in ms of the follower's clock, and what is added to its instants. */
  #reading = { sentAtMs: 0, offsetMs: 0 };
  readonly #states = clusterStateSchema({
    toFollower: (instantMs) => instantMs + this.#reading.offsetMs,
    sentAtMs: () => this.#reading.sentAtMs,
  });
  /** The clusters that were sent in full, on this stream or on those that it continues. */
  readonly #fed = new Set<string>();
  #wanted: ReadonlyMap<string, WantedCluster>;
  #last: { readonly group: string; readonly seq: number } | null = null;
  #group = "";
  #failures = 0;
  #tokens = 0;
  #cancelTimer: CancelTimer | null = null;
  #cancelEcho: CancelTimer | null = null;

  /** @param wanted the clusters that it is to feed */
  constructor(context: UpstreamContext, wanted: readonly WantedCluster[]) {
    this.#context = context;
    this.#wanted = indexedByName(wanted);
  }

  get state(): UpstreamState {
    return this.#state;
  }

  /** Whether it has sent a cluster in full, and was heard within this time, in ms. */
  feeds(cluster: string, silentMs: number): boolean {
    return this.#fed.has(cluster) && this.#context.now() - this.#heardAtMs <= silentMs;
  }

  /** For how long it has been silent, in ms; Infinity if it was never heard. */
  get silentForMs(): number {
    return this.#context.now() - this.#heardAtMs;
  }

  /** How many bytes its streams have had so far. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  start(): void {
    this.#connect();
  }

  /** It is to feed other clusters from now on. Those that it feeds already go on. */
  select(wanted: readonly WantedCluster[]): void {
    this.#wanted = indexedByName(wanted);
    for (const cluster of this.#fed) if (!this.#wanted.has(cluster)) this.#fed.delete(cluster);
    if (this.#session !== null && this.#session.stream !== null) this.#askAnew(this.#session, this.#session.stream);
  }

  /** Orders a drain of a node. @returns what came of it @throws Error why nothing did */
  async drain(order: Omit<DrainOrder, "stream">): Promise<OrderedDrain> {
    const { connection, stream } = this.#session ?? { connection: null, stream: null };
    if (connection === null || stream === null) throw new Error("it must be connected");
    return connection.drain({ ...order, stream });
  }

  /** Asks for everything once more: something does not fit. */
  beginAnew(problem: string): void {
    this.#last = null;
    this.#leave(problem);
  }

  stop(): void {
    this.#end();
    this.#cancelTimer?.();
    this.#enter({ kind: "stopped" });
  }

  #connect(): void {
    if (this.#state.kind === "stopped") return;
    this.#enter({ kind: "connecting", problem: upstreamProblem(this.#state) });
    const { open, self } = this.#context;
    const asked = this.#wanted;
    const tokens = new Map<number, ClockReading>();
    const token = this.#newToken(tokens);
    const connection = open(
      {
        protocol: feedProtocol,
        ...self,
        clusters: [...asked.values()],
        isOwner: asked.size === 0,
        token,
        resume: this.#last,
        canMove: true,
      },
      {
        onMessage: (message, isPart = false) =>
          this.#session?.connection === connection && this.#take(this.#session, message, isPart),
        onBytes: (count) => (this.#receivedBytes += count),
        onEnd: (problem) => this.#session?.connection === connection && this.#leave(problem),
      },
    );
    this.#session = { connection, bound: new SendingBound(), stream: null, tokens, asked, canMove: false };
    this.#awaitBegin(this.#session, this.#context.now());
  }

  /** A stream that was accepted and does not begin is given up. */
  #awaitBegin(session: Session, sinceMs: number): void {
    const { setTimer, now, echoEveryMs } = this.#context;
    this.#cancelEcho?.();
    this.#cancelEcho = setTimer(() => {
      if (session.stream !== null) return;
      if (now() - sinceMs >= beginMaxMs) this.#leave(`its stream did not begin within ${beginMaxMs / 1_000} s`);
      else this.#awaitBegin(session, sinceMs);
    }, echoEveryMs);
  }

  #newToken(tokens: Map<number, ClockReading>): number {
    this.#tokens += 1;
    tokens.set(this.#tokens, this.#context.reading());
    for (const token of tokens.keys()) {
      if (tokens.size <= tokensMax) break;
      tokens.delete(token);
    }
    return this.#tokens;
  }

  #take(session: Session, message: FeedMessage, isPart: boolean): void {
    this.#arrivedAtMs = this.#context.now();
    if ("hello" in message) this.#begin(session, message.hello);
    else if ("moved" in message) this.#move(message.moved);
    else if ("echo" in message) this.#takeEcho(session, message.echo);
    else if ("full" in message) this.#takeFull(session, message.full);
    else if ("ready" in message) this.#ready();
    else if ("changes" in message) this.#takeChanges(session, message, isPart);
    else this.#leave(`it says: ${message.bye}`);
  }

  #begin(session: Session, hello: Extract<FeedMessage, { hello: unknown }>["hello"]): void {
    session.stream = hello.stream;
    this.#group = hello.group;
    if (!hello.resumed) {
      this.#decoder.reset();
      this.#fed.clear();
      this.#last = null;
    }
    this.#takeEcho(session, hello);
    const { version, refused } = hello;
    this.#enter({ kind: hello.resumed ? "live" : "starting", version, refused });
    if (hello.resumed) this.#failures = 0;
    this.#echoLater(session);
    session.canMove = hello.canMove;
    this.#askAnew(session, hello.stream);
  }

  /** Asks for what is wanted and was not asked for, and for nothing that is no longer wanted. */
  #askAnew(session: Session, stream: string): void {
    const { asked } = session;
    const add = [...this.#wanted.values()].filter(
      ({ name, shape }) => !isDeepStrictEqual(asked.get(name)?.shape, shape),
    );
    const drop = [...asked.keys()].filter((name) => !this.#wanted.has(name));
    if (add.length === 0 && drop.length === 0) return;
    session.asked = this.#wanted;
    if (session.canMove) return session.connection.select({ stream, add, drop });
    this.#end();
    this.#connect();
  }

  /** The stream has other clusters: its messages are numbered anew. */
  #move({ group, refused }: Extract<FeedMessage, { moved: unknown }>["moved"]): void {
    this.#group = group;
    this.#last = null;
    for (const { cluster } of refused) this.#fed.delete(cluster);
    if (this.#state.kind === "starting" || this.#state.kind === "live")
      this.#enter({ kind: "starting", version: this.#state.version, refused });
  }

  #takeEcho(
    session: Session,
    { token, at, added }: { readonly token: number; readonly at: number; readonly added: number },
  ): void {
    const sent = session.tokens.get(token);
    session.tokens.delete(token);
    if (sent === undefined) return;
    session.bound.take(
      {
        sentAtMs: instantOf(sent),
        sentAddedMs: sent.addedMs,
        receivedAtMs: at,
        receivedAddedMs: added,
      },
      { follower: this.#context.reading().addedMs, owner: added },
    );
    this.#timeOf(session, { at, added });
  }

  #takeFull(
    session: Session,
    { cluster, form, state, ...clock }: Extract<FeedMessage, { full: unknown }>["full"],
  ): void {
    // It was asked for before it was no longer wanted.
    if (!this.#wanted.has(cluster)) return;
    const time = this.#timeOf(session, clock);
    if (time === null) return this.#leave("one of the two machines stood still");
    this.#reading = { sentAtMs: time.sentAtMs, offsetMs: time.sentAtMs - clock.at };
    const read = form === stateForm ? this.#states.safeParse(state) : null;
    if (read !== null && (!read.success || read.data.name !== cluster)) return this.beginAnew("a message is damaged");
    this.#fed.add(cluster);
    this.#context.onFull(this.#context.name, cluster, read === null ? null : read.data);
  }

  #ready(): void {
    this.#failures = 0;
    if (this.#state.kind === "starting") this.#enter({ ...this.#state, kind: "live" });
  }

  #takeChanges(session: Session, message: Extract<FeedMessage, { changes: unknown }>, isPart: boolean): void {
    const time = this.#timeOf(session, message);
    if (time === null) return this.#leave("one of the two machines stood still");
    const outcomes = this.#decode(message.changes, time);
    if (outcomes === null) return this.beginAnew("a message is damaged");
    for (const outcome of outcomes)
      // What the full state of a cluster will have is not taken before.
      if (this.#fed.has(outcome.cluster)) this.#context.onOutcome(this.#context.name, outcome);
    // A stream that ends within a message cannot be continued: neither with the same message nor with the next one.
    if (isPart) this.#last = null;
    else if (this.#state.kind === "live") this.#last = { group: this.#group, seq: message.seq };
  }

  #decode(changes: readonly unknown[], time: MessageTime): readonly ProbeOutcome[] | null {
    const outcomes: ProbeOutcome[] = [];
    for (const change of changes) {
      // Nothing is kept of what was not asked for.
      const cluster = isObject(change) ? change["cluster"] : null;
      if (typeof cluster === "string" && !this.#wanted.has(cluster)) continue;
      const outcome = this.#decoder.decode(change, time);
      if (outcome === null) return null;
      if (outcome !== "ignored") outcomes.push(outcome);
    }
    return outcomes;
  }

  #timeOf({ bound }: Session, { at, added }: { readonly at: number; readonly added: number }): MessageTime | null {
    const reading = this.#context.reading();
    const nowMs = instantOf(reading);
    const earliestMs = bound.earliest(at, nowMs, { follower: reading.addedMs, owner: added });
    if (earliestMs === null) return null;
    const sentAtMs = Math.min(nowMs, earliestMs);
    this.#heardAtMs = Math.max(this.#heardAtMs, sentAtMs);
    return { sentAtMs, wallOffsetMs: this.#context.wall() - nowMs };
  }

  #echoLater(session: Session): void {
    const { setTimer, echoEveryMs } = this.#context;
    this.#cancelEcho?.();
    this.#cancelEcho = setTimer(() => {
      if (this.#context.now() - this.#arrivedAtMs > silenceMaxMs)
        return this.#leave(`nothing was heard of it for ${silenceMaxMs / 1_000} s`);
      if (session.stream !== null) session.connection.echo(session.stream, this.#newToken(session.tokens));
      this.#echoLater(session);
    }, echoEveryMs);
  }

  #leave(problem: string): void {
    this.#end();
    if (this.#state.kind === "stopped") return;
    this.#enter({ kind: "waiting", problem });
    const { setTimer, random } = this.#context;
    const waitMs = Math.min(retry.mostMs, retry.firstMs * 2 ** this.#failures) * (0.5 + random());
    this.#failures = Math.min(this.#failures + 1, 10);
    this.#cancelTimer?.();
    this.#cancelTimer = setTimer(() => this.#connect(), waitMs);
  }

  #end(): void {
    this.#cancelEcho?.();
    this.#cancelEcho = null;
    this.#session?.connection.close();
    this.#session = null;
  }

  #enter(state: UpstreamState): void {
    this.#state = state;
    this.#context.onState(this.#context.name, state);
  }
}

/** Why a stream is not connected; `null` if it is, or if nothing is known. */
export function upstreamProblem(state: UpstreamState): string | null {
  return "problem" in state ? state.problem : null;
}
