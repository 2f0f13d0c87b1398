// Loaded before virtual time runs: what is imported later takes real time.
import { pino } from "pino";
import type { Machine } from "../../../src/app/machine/machine.ts";
import { clusterNamed, nodeNamed } from "../../../src/core/cluster/lookup.ts";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import type { FeedSink } from "../../../src/features/follow/follower/feed-connection.ts";
import { fleetPlaces } from "../../../src/features/fleet/open-fleet.ts";
import type { OpenDcsSource } from "../../../src/core/dcs/dcs-source.ts";
import { dcsSources } from "../../../src/core/feature/offers.ts";
import { type FeedTransport, feedTransports } from "../../../src/features/follow/open-follow.ts";
import type { Feeds } from "../../../src/features/follow/owner/feeds.ts";
import { evidenceBringers } from "../../../src/core/feature/offers.ts";
import type { Offers } from "../../../src/core/feature/offer.ts";
import type { FleetMembership } from "../../../src/features/fleet/ownership/fleet-membership.ts";
import type { ClusterAssignment } from "../../../src/features/fleet/ownership/fleet-view.ts";
import type { FleetKeys, MemoryFleetStore } from "../../../test/fake/fleet-keys.ts";
import type { Chance } from "../chance.ts";
import { Stalls } from "../rolecall/stalls.ts";
import { pushedChecks } from "../sim/agreement.ts";
import { virtualMachine } from "../sim/machine.ts";
import { Subject } from "../sim/subject.ts";
import { VirtualStream } from "../sim/virtual-owner.ts";
import type { VirtualNetwork } from "../sim/virtual-network.ts";
import type { VirtualTime } from "../sim/virtual-time.ts";
import type { EdgeLinks } from "./edge-links.ts";
import { EdgeTime } from "./edge-time.ts";

/** What an instance of a fleet is made of. */
export interface EdgeParts {
  readonly name: string;
  readonly config: Config;
  readonly hasWorker: boolean;
  /** The cluster whose answers are compared with what other parts of rolecall give. */
  readonly cluster: string;
  readonly time: VirtualTime;
  readonly chance: Chance;
  readonly keys: FleetKeys;
  readonly links: EdgeLinks;
  readonly connect: (edge: string, time: EdgeTime) => VirtualNetwork["connect"];
  readonly openDcs: (time: EdgeTime) => OpenDcsSource;
  readonly peerAt: (url: string) => VirtualEdge | undefined;
  readonly onChange: (before: ClusterState, after: ClusterState) => void;
  /** rolecall has logged an error. */
  readonly onError: (text: string) => void;
}

/** How long it takes until a machine that does not answer counts as gone, in ms. */
const connectMs = 1_000;
/** How long an answer of another instance may take, in ms: then the stream counts as broken. */
const answerMs = 2_000;
/** A stream that was cut is opened again within this time, in ms: after 375 at most, and a second if there is no answer. */
const reconnectingMs = 1_500;

/** One process of an instance. */
interface EdgeLife {
  readonly time: EdgeTime;
  readonly subject: Subject;
  store: MemoryFleetStore | null;
  membership: FleetMembership | null;
  /** What feeds others. */
  feeds: Feeds | null;
  /** Streams to and from others. */
  readonly streams: Set<VirtualStream>;
  hasBegun: boolean;
}

/** An instance of a fleet, over its restarts. Everything between its connections and its answers is the program's own. */
export class VirtualEdge {
  readonly name: string;
  readonly url: string;
  readonly stalls: Stalls;
  readonly #parts: EdgeParts;
  readonly #chance: Chance;
  readonly #served: ReadonlySet<string>;
  #life: EdgeLife | null = null;
  #lives = 0;
  /** When it was started last, in virtual ms. */
  startedMs = Infinity;
  /** When its streams were cut last. */
  #brokenMs = -Infinity;

  constructor(parts: EdgeParts) {
    this.#parts = parts;
    this.name = parts.name;
    this.url = urlOf(parts.name);
    this.#chance = parts.chance.fork(1);
    this.#served = new Set(parts.config.clusters.map(({ name }) => name));
    this.stalls = new Stalls(() => parts.time.nowMs);
  }

  get subject(): Subject {
    return this.#running.subject;
  }

  /** Whether its configuration has a cluster. */
  serves(cluster: string): boolean {
    return this.#served.has(cluster);
  }

  /** Whether it was started late, or again, and has not found a node of a cluster since: the list of members may not have it. */
  hasLost(cluster: string, node: string): boolean {
    const known = clusterNamed(this.subject.monitor.store.current, cluster);
    return (this.#lives > 1 || this.startedMs > 0) && (known === undefined || nodeNamed(known, node) === undefined);
  }

  /** Whether it answers nothing yet, or any more. */
  get isDown(): boolean {
    return this.#life?.hasBegun !== true;
  }

  /** Whether its process is there. */
  get isRunning(): boolean {
    return this.#life !== null;
  }

  get isFrozen(): boolean {
    return (this.#life?.time.frozenMs ?? 0) > 0;
  }

  /** Its part in the fleet; `null` before it has begun to join, and while it is not there. */
  get membership(): FleetMembership | null {
    return this.#life?.membership ?? null;
  }

  assignmentOf(cluster: string): ClusterAssignment {
    return this.membership?.assignmentOf(cluster) ?? { kind: "probed", isOwned: false, otherOwners: [] };
  }

  /** The instances from which it takes a cluster now; empty if it probes it. */
  followed(cluster: string): readonly string[] {
    const assignment = this.assignmentOf(cluster);
    return assignment.kind === "followed" ? assignment.owners.map(({ id }) => nameOf(id)) : [];
  }

  /** Whether a cluster that it follows is fed by an owner now. */
  isFed(cluster: string): boolean {
    if (this.#life === null) return false;
    const phases = evidenceBringers.in(this.#life.subject.monitor.offers).flatMap((bringer) => bringer.phases);
    return phases.find(([name]) => name === cluster)?.[1] === "following";
  }

  /** Whether its streams were cut so shortly before that they may not have been opened again. */
  get isReconnecting(): boolean {
    return this.#parts.time.nowMs - this.#brokenMs < reconnectingMs;
  }

  /** Starts a process. Never rejects. */
  start(): void {
    if (this.#life !== null) return;
    const life = this.#build();
    this.#life = life;
    this.startedMs = this.#parts.time.nowMs;
    life.subject.monitor.store.onChange(this.#parts.onChange);
    void this.#begin(life).catch((error: unknown) => this.#parts.onError(String(error)));
  }

  /** Its process ends without a word. @param isSilent its machine too: nobody is told that its streams have ended */
  kill(isSilent: boolean): void {
    const life = this.#life;
    if (life === null) return;
    this.#life = null;
    life.time.end();
    if (!isSilent) for (const stream of life.streams) stream.fail("the peer is gone");
  }

  /** It stops as the program does. */
  stop(): void {
    const life = this.#life;
    if (life === null) return;
    this.#life = null;
    void life.subject
      .stop()
      .catch((error: unknown) => this.#parts.onError(String(error)))
      .finally(() => {
        for (const stream of life.streams) stream.fail("the peer has stopped");
        this.#parts.time.after("world", connectMs, () => life.time.end());
      });
  }

  /** Its process, or its machine, stands still for a time. */
  standStill(how: "freeze" | "suspend", ms: number): void {
    const { nowMs } = this.#parts.time;
    this.stalls.note(nowMs, nowMs + ms);
    this.#life?.time[how](ms);
  }

  /** All of its streams are cut. */
  breakStreams(): void {
    this.#brokenMs = this.#parts.time.nowMs;
    for (const stream of this.#life?.streams ?? []) stream.fail("the stream was cut");
  }

  /** Takes whether it reaches the store of the fleet. To be called whenever that may have changed. */
  reachStore(): void {
    const store = this.#life?.store ?? null;
    if (store !== null) store.isCut = this.#parts.links.isCut(this.name, "store");
  }

  get #running(): EdgeLife {
    if (this.#life === null) throw new Error(`Cannot use ${this.name}: it must be running`);
    return this.#life;
  }

  async #begin(life: EdgeLife): Promise<void> {
    await life.subject.restore();
    await life.subject.begin();
    life.hasBegun = true;
  }

  #build(): EdgeLife {
    this.#lives += 1;
    const { name, time: shared, keys, config, hasWorker, cluster, connect, openDcs } = this.#parts;
    const time = new EdgeTime(shared);
    const streams = new Set<VirtualStream>();
    let ids = 0;
    const plain = virtualMachine({
      time,
      chance: this.#chance.fork(this.#lives),
      network: { connect: connect(name, time), latencyMs: () => 1 },
    });
    const machine: Machine = {
      ...plain,
      newInstanceId: () => `${name}-${this.#lives}-${(ids += 1)}`,
    };
    const bring = (offers: Offers): void => {
      dcsSources.bring(offers, openDcs(time));
      feedTransports.bring(offers, {
        open: (upstream) => (request, sink) => this.#open({ time, streams }, upstream.url, { request, sink }),
        serve: (feeds) => (life.feeds = feeds),
      });
      fleetPlaces.bring(offers, {
        open: () => {
          const store = keys.store({
            get nowMs() {
              return time.nowMs;
            },
            setTimer: plain.setTimer,
          });
          life.store = store;
          this.reachStore();
          return store;
        },
        joined: (membership) => (life.membership = membership),
      });
    };
    // Events of clusters are logged too; an internal error has its cause.
    const write = (line: string): void => (line.includes('"err":') ? this.#parts.onError(line.trim()) : undefined);
    const log = pino({ level: "error" }, { write });
    const subject = new Subject({ config, machine, hasWorker, cluster, pushed: pushedChecks, log, bring });
    const life: EdgeLife = { time, subject, store: null, membership: null, feeds: null, streams, hasBegun: false };
    return life;
  }

  #open(
    { time, streams }: Pick<EdgeLife, "time" | "streams">,
    url: string,
    { request, sink }: { readonly request: unknown; readonly sink: FeedSink },
  ): ReturnType<ReturnType<FeedTransport["open"]>> {
    const { links, peerAt } = this.#parts;
    const peer = peerAt(url);
    const owner = peer?.openLife ?? null;
    const drain = (): Promise<never> => Promise.reject(new Error("no answer"));
    const feeds = owner?.feeds ?? null;
    if (peer === undefined || owner === null || feeds === null || links.arePeersCut(this.name, peer.name)) {
      const event = time.after("delivery", connectMs, () => sink.onEnd("no answer"));
      return { echo: () => {}, select: () => {}, drain, close: () => (event.run = null) };
    }
    const delayMs = (): number => links.waitMs(this.name, peer.name) + 0.2 + 3 * this.#chance.next();
    const stream = new VirtualStream(sink, { time, ownersTime: owner.time, delayMs, isLost: () => false });
    for (const side of [streams, owner.streams]) side.add(stream);
    const post = (take: () => void): void => {
      const late = time.after("timer", answerMs, () => stream.fail("no answer"));
      stream.after(() => {
        take();
        time.after("delivery", delayMs(), () => (late.run = null));
      });
    };
    post(() => void accept(feeds, stream, { request, name: this.name }));
    return {
      echo: (id, token) => post(() => void feeds.echo({ stream: id, token }, callerOf(this.name))),
      select: (selection) => post(() => void feeds.select(selection, callerOf(this.name))),
      drain: async (order) => {
        await new Promise<void>((resolve) => stream.after(resolve));
        const done = await feeds.drain(order, callerOf(this.name));
        await new Promise<void>((resolve) => void time.after("delivery", delayMs(), () => resolve()));
        if ("problem" in done) throw new Error(done.problem);
        return done;
      },
      close: () => {
        for (const side of [streams, owner.streams]) side.delete(stream);
        stream.close();
      },
    };
  }

  /** The process that takes streams; `null`: none does. */
  get openLife(): Pick<EdgeLife, "time" | "subject" | "streams" | "feeds"> | null {
    return this.#life;
  }
}

/** The address of an instance, and its name in the fleet. */
export function urlOf(name: string): string {
  return `http://${name}:9108`;
}

/** The name of an instance by its name in the fleet. */
export function nameOf(id: string): string {
  return id.split(":")[0] ?? id;
}

function callerOf(name: string): Parameters<Feeds["open"]>[1] {
  return { name, principal: name, mayFollow: () => true, mayDrain: () => true };
}

async function accept(
  feeds: Feeds,
  stream: VirtualStream,
  { request, name }: { readonly request: unknown; readonly name: string },
): Promise<void> {
  const opened = feeds.open(request, callerOf(name), () => stream);
  if (opened.kind === "open") stream.onClosed = opened.ended;
  else stream.fail(opened.problem);
}
