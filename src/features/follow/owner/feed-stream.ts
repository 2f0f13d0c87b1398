import type { JsonObject } from "../../../core/cluster/values/json.ts";
import { writtenState } from "../feed/state-values.ts";
import { compressedLine } from "./feed-group.ts";

/** Where the messages of one follower go. */
export interface FeedOutlet {
  write(bytes: Buffer): void;
  /** How many bytes wait for it, in bytes. */
  readonly waiting: number;
  /** Ends the stream. What waits is sent still, unless the follower does not read. */
  end(): void;
}

/** Where a stream is: it sends each cluster in full first, unless its follower has all of them. */
type StreamPhase =
  { readonly kind: "starting"; readonly left: string[] } | { readonly kind: "live" } | { readonly kind: "ended" };

/** How a stream begins. */
interface FeedStart {
  readonly clusters: ReadonlySet<string>;
  readonly nowMs: number;
  readonly isResumed: boolean;
}

/**
 * What waits for followers that do not read, in bytes: one that leaves more is disconnected. Of all followers with one
 * credential, and of all together, those are that leave most. Clusters are sent in full while little waits.
 */
export const unread = {
  stream: 8 * 1024 * 1024,
  principal: 24 * 1024 * 1024,
  all: 48 * 1024 * 1024,
  full: 1024 * 1024,
} as const;
/** A follower that sends no token for so long, in ms, has lost its connection. */
const silentMax = 15_000;

/** Who follows, and what. */
export interface FeedAbout {
  readonly id: string;
  /** The name of the follower, and who it is to the listener. */
  readonly follower: string;
  /** By which credential it has come; `null`: by none. */
  readonly principal: string | null;
  /** Whether it may follow a cluster. */
  readonly mayFollow: (cluster: string) => boolean;
  /** Whether it understands that its stream has other clusters. */
  readonly canMove: boolean;
  /**
   * The clusters of the configuration that it has asked for -> the key in which the two configurations differ; `null` if
   * they agree. Nothing else that it names is kept.
   */
  readonly wanted: Map<string, string | null>;
}

/** The stream of one follower. */
export class FeedStream {
  readonly about: FeedAbout;
  /** The clusters that it is fed. */
  #clusters: ReadonlySet<string>;
  readonly #outlet: FeedOutlet;
  #phase: StreamPhase;
  #heardMs: number;

  constructor(about: FeedAbout, outlet: FeedOutlet, { clusters, nowMs, isResumed }: FeedStart) {
    this.about = about;
    this.#clusters = clusters;
    this.#outlet = outlet;
    this.#heardMs = nowMs;
    this.#phase = isResumed ? { kind: "live" } : { kind: "starting", left: [...clusters] };
  }

  get clusters(): ReadonlySet<string> {
    return this.#clusters;
  }

  /** How many bytes wait for it. */
  get waiting(): number {
    return this.#outlet.waiting;
  }

  /** Whether some clusters were not sent in full yet. */
  get isStarting(): boolean {
    return this.#phase.kind === "starting";
  }

  get isEnded(): boolean {
    return this.#phase.kind === "ended";
  }

  /** Sends a message that is the same for all. */
  send(bytes: Buffer): void {
    if (this.#phase.kind === "ended") return;
    this.#outlet.write(bytes);
    if (this.#outlet.waiting > unread.stream) this.end("unread");
  }

  /** Sends a message to this follower alone. */
  tell(message: JsonObject): void {
    this.send(compressedLine(writtenState(message)));
  }

  /** It has other clusters from now on: those that are new are to be sent in full. */
  move(clusters: ReadonlySet<string>, message: JsonObject): void {
    if (this.#phase.kind === "ended") return;
    const waiting = this.#phase.kind === "starting" ? this.#phase.left.filter((name) => clusters.has(name)) : [];
    const added = [...clusters].filter((name) => !this.#clusters.has(name));
    this.#clusters = clusters;
    this.#phase = { kind: "starting", left: [...waiting, ...added] };
    this.tell({ moved: message });
  }

  /** The next cluster to be sent in full; `null` if there is none, or the follower has to read first. */
  nextCluster(): string | null {
    if (this.#phase.kind !== "starting" || this.#outlet.waiting > unread.full) return null;
    const next = this.#phase.left.shift();
    if (next !== undefined) return next;
    this.#phase = { kind: "live" };
    this.tell({ ready: true });
    return null;
  }

  /** The follower has sent a token. */
  heard(nowMs: number): void {
    this.#heardMs = nowMs;
  }

  /** Whether the follower is gone. */
  isSilent(nowMs: number): boolean {
    return nowMs - this.#heardMs > silentMax;
  }

  /** Ends the stream: the follower comes back, here or elsewhere. */
  end(reason: string): void {
    if (this.#phase.kind === "ended") return;
    if (this.#outlet.waiting === 0) this.tell({ bye: reason });
    this.#phase = { kind: "ended" };
    this.#outlet.end();
  }
}
