import type { ServerResponse } from "node:http";
import type { ClusterEvent } from "../../core/events/cluster-event.ts";
import { isEventShown } from "../../core/events/event-filter.ts";
import type { ClusterRenderings } from "./cluster-renderings.ts";

/** What one client follows. */
export interface LiveSubscription {
  /** All clusters that its listener serves. */
  readonly clusters: ReadonlySet<string>;
  /** The cluster that its listener is bound to, or `null`. */
  readonly boundTo: string | null;
  /** The one cluster that it follows in full; `null`: all of them, each as a row. */
  readonly only: string | null;
  /** The id of the last event that it has; `null`: it wants new events only. */
  readonly lastEventId: string | null;
}

/** How many clusters are sent before other work of this process goes on: a change waits for the slice before it. */
const sliceClustersMax = 10;
/** How many missed events are sent. A client that missed more reads them from /events. */
const replayedMax = 500;
/** How long a client may take to read what was sent, in ms. */
const unreadMaxMs = 30_000;
/** How long a stream lives, in ms: then its client connects again, and is authorized again. */
const lifeMaxMs = 3_600_000;

/** Clusters whose last state a client has not seen, by the reason. */
interface WaitingClusters {
  /** An event of the cluster was published. */
  readonly event: Set<string>;
  /** The cluster was never sent. */
  readonly first: Set<string>;
  /** The evidence of the cluster changed. */
  readonly change: Set<string>;
  /** Only the age of the evidence changed. */
  readonly age: Set<string>;
}

/**
 * One client's stream of server-sent events. It has no queue: it remembers which clusters the client has not seen in
 * their last state, and which event it saw last. A client that reads slowly skips states and gets the newest one.
 */
export class LiveStream {
  readonly #response: ServerResponse;
  readonly #subscription: LiveSubscription;
  readonly #startedAtMs: number;
  readonly #waiting: WaitingClusters;
  /** The same sets, the most urgent one first. */
  readonly #byUrgency: readonly Set<string>[];
  readonly #sentVersions = new Map<string, number>();
  #lastEventId: string | null;
  #hasEvents: boolean;
  #isReady = false;
  /** Since when the client has not read what was sent; `null` if it has. */
  #blockedSinceMs: number | null = null;

  /** @param newestEventId the event before those that are new to a client without `lastEventId` */
  constructor(
    response: ServerResponse,
    subscription: LiveSubscription,
    { nowMs, newestEventId }: { readonly nowMs: number; readonly newestEventId: string | null },
  ) {
    this.#response = response;
    this.#subscription = subscription;
    this.#startedAtMs = nowMs;
    const first = new Set(subscription.only === null ? subscription.clusters : [subscription.only]);
    this.#waiting = { event: new Set(), first, change: new Set(), age: new Set() };
    this.#byUrgency = [this.#waiting.event, first, this.#waiting.change, this.#waiting.age];
    this.#lastEventId = subscription.lastEventId ?? newestEventId;
    this.#hasEvents = subscription.lastEventId !== null;
  }

  /** Notes that a cluster changed: its evidence, or only the age of its evidence. */
  clusterChanged(cluster: string, part: "change" | "age"): void {
    if (this.#isFollowed(cluster)) this.#waiting[part].add(cluster);
  }

  /** Whether its listener is bound to one cluster. */
  get isBound(): boolean {
    return this.#subscription.boundTo !== null;
  }

  /** Notes that time passed: verdicts may have changed by age alone. */
  allChanged(): void {
    for (const cluster of this.#subscription.clusters) this.clusterChanged(cluster, "age");
  }

  /** Notes that an event was published. @param cluster that of the event; `null`: it is about rolecall itself */
  eventPublished(cluster: string | null): void {
    this.#hasEvents = true;
    // Only a row has the number of open events.
    if (cluster !== null && this.#subscription.only === null && this.#isFollowed(cluster))
      this.#waiting.event.add(cluster);
  }

  /** Whether something waits to be sent, and the client reads. */
  get isPending(): boolean {
    if (this.#blockedSinceMs !== null) return false;
    return this.#hasEvents || !this.#isReady || this.#byUrgency.some(({ size }) => size > 0);
  }

  /** Sends one slice of what changed. */
  flush(renderings: Pick<ClusterRenderings, "of">, recent: () => readonly ClusterEvent[], nowMs: number): void {
    if (this.#hasEvents) this.#sendEvents(recent());
    this.#sendClusters(renderings);
    // With many clusters there is always one that changed since: each of them was sent once.
    if (this.#waiting.first.size > 0 || this.#isReady) return this.#noteBlocked(nowMs);
    this.#isReady = true;
    this.send("ready", "{}");
    this.#noteBlocked(nowMs);
  }

  /** Whether the stream must end: its client does not read, or it is too old. */
  mustEnd(nowMs: number): boolean {
    if (this.#blockedSinceMs !== null && nowMs - this.#blockedSinceMs > unreadMaxMs) return true;
    return nowMs - this.#startedAtMs > lifeMaxMs;
  }

  /** Whether the client has not read all that was sent. */
  get isUnread(): boolean {
    return this.#blockedSinceMs !== null;
  }

  /** Notes that the client has read everything. */
  drained(): void {
    this.#blockedSinceMs = null;
  }

  /** Sends one message, unless the client has not read the last one. `data` is JSON on one line. */
  send(name: string, data: string, id?: string): void {
    if (this.#response.destroyed || this.#response.writableEnded) return;
    this.#response.write(`event: ${name}\n${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`);
  }

  /** Sends that the server is alive. */
  beat(data: string): void {
    if (this.#blockedSinceMs === null) this.send("heartbeat", data);
  }

  /** Ends the stream. A client that does not read its end is disconnected. */
  end(reason: string): void {
    this.send("bye", JSON.stringify({ reason }));
    this.#response.end();
    if (this.#blockedSinceMs !== null) this.#response.destroy();
  }

  #noteBlocked(nowMs: number): void {
    if (this.#response.writableNeedDrain) this.#blockedSinceMs ??= nowMs;
  }

  /** Takes the most urgent clusters. */
  #takeSlice(): Iterable<string> {
    const slice = new Set<string>();
    for (const waiting of this.#byUrgency)
      for (const name of waiting) {
        if (slice.size >= sliceClustersMax) break;
        slice.add(name);
      }
    for (const name of slice) for (const waiting of this.#byUrgency) waiting.delete(name);
    return slice;
  }

  #sendClusters(renderings: Pick<ClusterRenderings, "of">): void {
    const rows: string[] = [];
    const ages: string[] = [];
    for (const name of this.#takeSlice()) {
      const rendering = renderings.of(name);
      if (rendering === null) continue;
      if (this.#subscription.only !== null) {
        this.send("cluster", rendering.full);
        continue;
      }
      if (this.#sentVersions.get(name) !== rendering.version) rows.push(rendering.row);
      this.#sentVersions.set(name, rendering.version);
      ages.push(`${JSON.stringify(name)}:${rendering.ageMs}`);
    }
    if (ages.length > 0) this.send("rows", `{"rows":[${rows.join(",")}],"ages":{${ages.join(",")}}}`);
  }

  #sendEvents(recent: readonly ClusterEvent[]): void {
    this.#hasEvents = false;
    const at = recent.findLastIndex(({ id }) => id === this.#lastEventId);
    const newest = recent.at(-1);
    if (newest === undefined) {
      if (this.#lastEventId !== null) this.send("reset", '{"reason":"events_missed"}');
      this.#lastEventId = null;
      return;
    }
    if (at === recent.length - 1) return;
    const isLost = at < 0 && this.#lastEventId !== null;
    const missed = recent.slice(at + 1);
    this.#lastEventId = newest.id;
    if (isLost || missed.length > replayedMax) return this.send("reset", '{"reason":"events_missed"}', newest.id);
    for (const event of missed) {
      const isWanted = event.cluster === null || this.#isFollowed(event.cluster);
      if (!isWanted || !isEventShown(event, this.#subscription.boundTo)) continue;
      this.send("event", JSON.stringify({ ...event, at: new Date(event.at).toISOString() }), event.id);
    }
  }

  #isFollowed(cluster: string): boolean {
    const { only, clusters } = this.#subscription;
    return only === null ? clusters.has(cluster) : only === cluster;
  }
}
