import { type DrainRequest, drainTextMax, type Durability } from "../../../core/cluster/drain.ts";
import type { ProbeOutcome } from "../../../core/cluster/outcome.ts";
import type { ClusterState } from "../../../core/cluster/snapshot.ts";
import type { CancelTimer, SetTimer } from "../../../core/cluster/timer.ts";
import { withoutUnsafe } from "../../../core/cluster/values/unsafe-text.ts";
import type { Config } from "../../../core/config/model/config.ts";
import { type ClockReading, instantOf } from "../../../core/state/clock.ts";
import {
  drainOrderSchema,
  echoRequestSchema,
  type FeedRefusal,
  type FeedRequest,
  feedRequestSchema,
  type OrderedDrain,
  refusalsMax,
  selectionSchema,
  sendingTime,
} from "../feed/feed-messages.ts";
import { sentStateOf, stateForm } from "../feed/cluster-state-schema.ts";
import { feedProtocol } from "../../../core/config/outcome-shape.ts";
import { FeedGroup } from "./feed-group.ts";
import { type FeedSelection, refusalFor, feedRefusalOf, feedSelectionOf, wantedIn } from "./feed-selection.ts";
import { type FeedAbout, type FeedOutlet, FeedStream, unread } from "./feed-stream.ts";
import { limitUnread, waitingOf } from "./unread-bytes.ts";

/** What feeds depend on. */
export interface FeedsContext {
  readonly config: () => Pick<Config, "clusters" | "probe">;
  /** Names this run of rolecall. */
  readonly instance: string;
  readonly cluster: (name: string) => ClusterState | undefined;
  /** Reads rolecall's clock, and looks for a gap first. */
  readonly reading: () => ClockReading;
  readonly setTimer: SetTimer;
  /** Returns an identifier that no other has. */
  readonly newId: () => string;
  readonly version: string;
  /** Calls a listener with each outcome that changed the snapshot. @returns removes it */
  readonly onOutcome: (listener: (outcome: ProbeOutcome) => void) => () => void;
  /** Begins and ends drains. */
  readonly drains: {
    begin(cluster: string, node: string, request: DrainRequest): Promise<Durability>;
    end(cluster: string, node: string, by: string | null): Promise<Durability> | null;
  };
}

/** Who asks for a feed. */
export interface FeedCaller {
  /** For people. */
  readonly name: string;
  /** Its credential: what it asks of a stream counts if that was opened by the same one. `null`: none. */
  readonly principal: string | null;
  /** Whether it may follow a cluster. */
  readonly mayFollow: (cluster: string) => boolean;
  /** Whether it may drain nodes of a cluster that it follows. */
  readonly mayDrain: (cluster: string) => boolean;
}

/** A stream, or why there is none. */
type OpenedFeed =
  | { readonly kind: "open"; readonly ended: () => void }
  | { readonly kind: "unreadable" | "refused"; readonly problem: string };

/** What one follower gets. */
export interface FedFollower {
  readonly follower: string;
  readonly clusters: number;
}

interface ServedGroup {
  readonly id: string;
  readonly group: FeedGroup;
  readonly clusters: ReadonlySet<string>;
  readonly streams: Set<FeedStream>;
  /** When the last follower left, in ms of rolecall's clock; Infinity while there is one. */
  leftAtMs: number;
}

/** How many followers there may be, with how many different selections, and of how many clusters in all. */
const streamsMax = 256;
const groupsMax = 128;
const wantedMax = 1_000_000;
/** How long a group without a follower is kept, in ms: one that lost its connection continues where it was. */
const keptMs = 30_000;
/** How many of them are kept at most. */
const keptGroupsMax = 16;
const sweepMs = 1_000;
/**
 * How many clusters are sent in full before other work goes on, and after how many ms the next ones follow; more if the
 * follower has to read first.
 */
const slice = { clusters: 10, gapMs: 2, unreadGapMs: 50 } as const;

/**
 * Feeds followers with the outcomes of the clusters that this instance probes. Costs nothing while nobody follows. A
 * cluster that is followed here itself is not fed: every outcome has one owner.
 */
export class Feeds {
  readonly #context: FeedsContext;
  readonly #groups = new Map<string, ServedGroup>();
  #endOutcomes: (() => void) | null = null;
  #cancelSweep: CancelTimer | null = null;
  /** `ended` is final: nobody is fed any more. */
  #phase: "feeding" | "ended" = "feeding";
  #unknownClusters = 0;

  constructor(context: FeedsContext) {
    this.#context = context;
  }

  /** The present followers. */
  get followers(): readonly FedFollower[] {
    return this.#streams().map(({ about, clusters }) => ({ follower: about.follower, clusters: clusters.size }));
  }

  /** How often a follower has asked for a cluster that is not configured here: such names are counted, not kept. */
  get unknownClusters(): number {
    return this.#unknownClusters;
  }

  /**
   * Opens a stream.
   * @param body the request, unchecked
   * @param respond begins the response, once the request is not refused
   * @returns what is to be called when the follower has left; or why there is no stream
   */
  open(body: unknown, { name, principal, mayFollow }: FeedCaller, respond: () => FeedOutlet): OpenedFeed {
    const read = feedRequestSchema.safeParse(body);
    if (!read.success) return { kind: "unreadable", problem: "the body must be a request of a follower" };
    const request = read.data;
    const { wanted, unknown } = this.#wantedIn(request.clusters);
    const problem = this.#problemOf(request, wanted);
    if (problem !== null) return { kind: "refused", problem };
    const id = this.#context.newId();
    const follower = withoutUnsafe(`${request.name} (${name})`);
    const about = { id, follower, principal, mayFollow, canMove: request.canMove, wanted };
    const { clusters, refused } = feedSelectionOf(this.#context.config(), about, unknown);
    const served = this.#groupOf(clusters);
    const missed = request.resume?.group === served.id ? served.group.since(request.resume.seq) : null;
    if (missed === null) served.group.beginAnew();
    const time = sendingTime(this.#context.reading());
    const stream = new FeedStream(about, respond(), { clusters, nowMs: time.at, isResumed: missed !== null });
    stream.tell({
      hello: {
        version: this.#context.version,
        instance: this.#context.instance,
        stream: id,
        group: served.id,
        resumed: missed !== null,
        token: request.token,
        refused,
        canMove: true,
        ...time,
      },
    });
    for (const bytes of missed ?? []) stream.send(bytes);
    joinGroup(served, stream);
    this.#start();
    this.#sendFull(stream);
    return { kind: "open", ended: () => this.#leave(stream) };
  }

  /**
   * A follower asks for other clusters on its stream. It gets those that the caller may follow, too.
   * @param body unchecked
   * @returns `false` if the caller has no such stream
   */
  select(body: unknown, { principal, mayFollow }: FeedCaller): boolean {
    const { stream: id, add, drop } = selectionSchema.safeParse(body).data ?? { stream: "", add: [], drop: [] };
    const stream = this.#streamNamed(id, principal);
    if (stream === undefined) return false;
    const { wanted, unknown } = this.#wantedIn(add);
    if (this.#wantedInAll + wanted.size > wantedMax) return false;
    for (const name of drop) stream.about.wanted.delete(name);
    const refused: FeedRefusal[] = [];
    for (const [name, difference] of wanted)
      if (mayFollow(name)) stream.about.wanted.set(name, difference);
      else refused.push(feedRefusalOf(name, "not_allowed"));
    const selection = feedSelectionOf(this.#context.config(), stream.about, unknown);
    this.#move(stream, { ...selection, refused: [...refused, ...selection.refused].slice(0, refusalsMax) });
    return true;
  }

  /** Which clusters are probed here has changed: each stream goes on with those that its follower has asked for. */
  reselect(): void {
    for (const stream of this.#streams()) {
      const selection = feedSelectionOf(this.#context.config(), stream.about, []);
      if (keyOf(selection.clusters) !== keyOf(stream.clusters)) this.#move(stream, selection);
    }
  }

  /**
   * Sends a token back to the follower that sent it.
   * @param body unchecked
   * @returns `false` if the caller has no such stream
   */
  echo(body: unknown, { principal }: Pick<FeedCaller, "principal">): boolean {
    const time = sendingTime(this.#context.reading());
    const { stream: id, token } = echoRequestSchema.safeParse(body).data ?? { stream: "", token: 0 };
    const stream = this.#streamNamed(id, principal);
    if (stream === undefined) return false;
    stream.heard(time.at);
    stream.tell({ echo: { token, ...time } });
    return true;
  }

  /**
   * Drains a node as an operator of a follower asks, by the rights of the caller.
   * @param body unchecked
   * @returns what came of it, or why nothing did
   */
  async drain(body: unknown, caller: FeedCaller): Promise<OrderedDrain | { readonly problem: string }> {
    const read = drainOrderSchema.safeParse(body);
    if (!read.success) return { problem: "the body must be the order of a drain" };
    const { stream: id, cluster, node, by, drain } = read.data;
    const stream = this.#streamNamed(id, caller.principal);
    if (stream === undefined) return { problem: "the stream must be open" };
    const refusal = refusalFor(this.#context.config(), cluster, caller.mayFollow);
    if (refusal !== null) return { problem: refusal.message };
    if (!caller.mayDrain(cluster)) return { problem: "the credential must be one of a follower with drains: true" };
    const who = `${by ?? "somebody"} at ${stream.about.follower}`.slice(0, drainTextMax);
    const { drains } = this.#context;
    const state = (): ReturnType<FeedsContext["cluster"]> => this.#context.cluster(cluster);
    if (drain !== null && state()?.index.has(node) !== true) return { problem: `${node} must be a node of ${cluster}` };
    const durability = await (drain === null
      ? drains.end(cluster, node, who)
      : drains.begin(cluster, node, { ...drain, by: who }));
    if (durability?.kind === "failed") return { problem: durability.problem };
    const isDurable = durability?.kind === "durable";
    const begun = state()?.drains.get(node);
    if (begun === undefined) return { isDurable, drain: null };
    const { untilMs, ...recorded } = begun;
    return { isDurable, drain: { ...recorded, leftMs: Math.max(0, untilMs - this.#now()) } };
  }

  /** Ends all streams. Their followers come back, and are answered by the configuration in force then. */
  endAll(reason: "reload" | "stopping"): void {
    for (const stream of this.#streams()) stream.end(reason);
    if (reason === "stopping") this.stop();
  }

  /** Ends all streams, and opens no other ones. */
  stop(): void {
    this.endAll("reload");
    this.#phase = "ended";
    this.#stop();
  }

  #wantedIn(asked: FeedRequest["clusters"]): Pick<ReturnType<typeof wantedIn>, "wanted" | "unknown"> {
    const { unknownCount, ...kept } = wantedIn(this.#context.config(), asked);
    this.#unknownClusters += unknownCount;
    return kept;
  }

  #problemOf({ protocol }: FeedRequest, wanted: FeedAbout["wanted"]): string | null {
    if (this.#phase === "ended") return "rolecall must not be stopping";
    if (protocol !== feedProtocol)
      return `protocol must be ${feedProtocol}, which rolecall ${this.#context.version} speaks, got ${protocol}`;
    if (this.#streams().length >= streamsMax) return `there must be at most ${streamsMax} followers`;
    if (this.#groups.size >= groupsMax) return `there must be at most ${groupsMax} selections of clusters`;
    return this.#wantedInAll + wanted.size <= wantedMax
      ? null
      : `all followers together must ask for at most ${wantedMax} clusters`;
  }

  get #wantedInAll(): number {
    return this.#streams().reduce((sum, { about }) => sum + about.wanted.size, 0);
  }

  /** A stream goes on with other clusters, in the group of those who have the same. */
  #move(stream: FeedStream, { clusters, refused }: FeedSelection): void {
    if (!stream.about.canMove) return stream.end("reload");
    const wasStarting = stream.isStarting;
    this.#leaveGroup(stream);
    const served = this.#groupOf(clusters);
    served.group.beginAnew();
    joinGroup(served, stream);
    stream.move(clusters, { group: served.id, refused });
    if (!wasStarting) this.#sendFull(stream);
  }

  #groupOf(clusters: ReadonlySet<string>): ServedGroup {
    const key = keyOf(clusters);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const streams = new Set<FeedStream>();
    const send = (bytes: Buffer): void => {
      for (const stream of streams) stream.send(bytes);
      limitUnread(this.#streams());
    };
    const { reading, setTimer, newId } = this.#context;
    const group = new FeedGroup({ reading, setTimer, send, groups: () => this.#groups.size });
    const served = { id: newId(), group, clusters, streams, leftAtMs: Infinity };
    this.#groups.set(key, served);
    return served;
  }

  /** Sends what the follower has not: a slice at a time, so that checks are answered meanwhile. */
  #sendFull(stream: FeedStream): void {
    const { all } = unread;
    for (let sent = 0; sent < slice.clusters; sent += 1) {
      if (stream.isEnded) return;
      // Others have to read first.
      if (stream.waiting > 0 && waitingOf(this.#streams()) > all / 2) break;
      const name = stream.nextCluster();
      if (name === null) break;
      // What is not sent yet would be taken as a change of what the full state has already.
      this.#groupWith(stream)?.group.flush();
      const cluster = this.#context.cluster(name);
      if (cluster === undefined) continue;
      const time = sendingTime(this.#context.reading());
      stream.tell({ full: { cluster: name, form: stateForm, state: sentStateOf(cluster), ...time } });
    }
    limitUnread(this.#streams());
    const gapMs = stream.waiting > 0 ? slice.unreadGapMs : slice.gapMs;
    if (stream.isStarting) this.#context.setTimer(() => this.#sendFull(stream), gapMs);
  }

  #leave(stream: FeedStream): void {
    stream.end("left");
    const served = this.#groupWith(stream);
    served?.streams.delete(stream);
    if (served?.streams.size !== 0) return;
    served.leftAtMs = this.#now();
    this.#forgetGroups(served.leftAtMs);
  }

  /** Forgets groups that nobody comes back for. */
  #forgetGroups(nowMs: number): void {
    const left = [...this.#groups.values()]
      .filter(({ streams }) => streams.size === 0)
      .toSorted((one, other) => one.leftAtMs - other.leftAtMs);
    for (const [at, { clusters, group, leftAtMs }] of left.entries()) {
      if (at >= left.length - keptGroupsMax && nowMs - leftAtMs < keptMs) continue;
      group.stop();
      this.#groups.delete(keyOf(clusters));
    }
  }

  /** The stream takes what its group has sent so far with it, so nobody continues a group that is empty then. */
  #leaveGroup(stream: FeedStream): void {
    const served = this.#groupWith(stream);
    served?.group.flush();
    served?.streams.delete(stream);
    if (served?.streams.size !== 0) return;
    served.group.stop();
    this.#groups.delete(keyOf(served.clusters));
  }

  #groupWith(stream: FeedStream): ServedGroup | undefined {
    return [...this.#groups.values()].find(({ streams }) => streams.has(stream));
  }

  #start(): void {
    this.#endOutcomes ??= this.#context.onOutcome((outcome) => {
      for (const { clusters, group } of this.#groups.values()) if (clusters.has(outcome.cluster)) group.add(outcome);
    });
    this.#cancelSweep ??= this.#context.setTimer(() => this.#sweep(), sweepMs);
  }

  /** Disconnects followers that are gone. */
  #sweep(): void {
    this.#cancelSweep = null;
    const nowMs = this.#now();
    for (const stream of this.#streams()) if (stream.isSilent(nowMs)) stream.end("silent");
    this.#forgetGroups(nowMs);
    if (this.#groups.size === 0) this.#stop();
    else this.#cancelSweep = this.#context.setTimer(() => this.#sweep(), sweepMs);
  }

  #stop(): void {
    this.#cancelSweep?.();
    this.#cancelSweep = null;
    this.#endOutcomes?.();
    this.#endOutcomes = null;
    for (const { group } of this.#groups.values()) group.stop();
    this.#groups.clear();
  }

  /** A stream that somebody with this credential has opened. */
  #streamNamed(id: string, principal: string | null): FeedStream | undefined {
    return this.#streams().find(({ about }) => about.id === id && about.principal === principal);
  }

  #streams(): readonly FeedStream[] {
    return [...this.#groups.values()].flatMap(({ streams }) => [...streams]);
  }

  #now(): number {
    return instantOf(this.#context.reading());
  }
}

function joinGroup(served: ServedGroup, stream: FeedStream): void {
  served.streams.add(stream);
  served.leftAtMs = Infinity;
}

/** Names clusters, in whatever order. */
function keyOf(clusters: ReadonlySet<string>): string {
  return JSON.stringify([...clusters].toSorted());
}
