import type { Chance } from "../chance.ts";
import { Oracle } from "../oracle/oracle.ts";
import type { Scene } from "../oracle/scene.ts";
import { Troubles } from "../oracle/troubles.ts";
import type { Profile } from "../profile.ts";
import type { Watched } from "../rolecall/child.ts";
import type { Stalls } from "../rolecall/stalls.ts";
import type { MachineFaults } from "./machine-faults.ts";
import type { Mode } from "../world/mode.ts";
import { World } from "../world/world.ts";
import { Evidence } from "../wire/evidence.ts";
import { isMemberOf, type Served } from "../wire/served.ts";
import { Seat } from "../wire/seat.ts";

/** How often rolecall requests `/liveness` of a node that answers, at most, in ms. */
const livenessMs = 11_000;

/** What a cluster is made with. */
export interface Shape {
  readonly index: number;
  readonly size: number;
  readonly generation: 3 | 4;
  readonly isDiscovered: boolean;
  /** How much WAL it writes where no fault changes that, in bytes per second; 0: an idle cluster. */
  readonly walRate: number;
  readonly mode: Mode;
  /** How long rolecall keeps a primary by its exporter, in ms (guard `survive`); 0: the nodes have no exporters. */
  readonly surviveMs: number;
}

/** What a cluster shares with the others of a run. */
export interface ClusterOptions {
  readonly chance: Chance;
  readonly now: () => number;
  readonly stalls: Stalls;
  readonly armed: Map<string, number>;
  /** Wall time at the instant 0 of `now`, in ms since the epoch. */
  readonly epochMs: number;
  /** Whether a clone may answer at an address. It stands still otherwise. */
  readonly hasClone: boolean;
}

/** A modelled cluster: its truth, its addresses, and a clone of it that was restored elsewhere. */
export class ModelCluster {
  readonly name: string;
  readonly world: World;
  readonly seats: readonly Seat[];
  readonly evidence: Evidence;
  readonly troubles = new Troubles();
  readonly oracle = new Oracle();
  /** The same scope, system and names under another DCS; null within a clone. */
  readonly clone: { readonly world: World; readonly seats: readonly Seat[] } | null;
  readonly scene: Scene;
  /** Requests to a clone at its own addresses: no evidence about the cluster's nodes. */
  protected readonly aside: Evidence;

  readonly shape: Shape;
  readonly profile: Profile;
  /** What only a simulation can do to rolecall's own machine, to the network and to the DCS; null elsewhere. */
  machine: MachineFaults | null = null;
  readonly #hasClone: boolean;

  constructor(shape: Shape, profile: Profile, options: ClusterOptions) {
    this.shape = shape;
    this.profile = profile;
    this.#hasClone = options.hasClone;
    const { index, size, generation, isDiscovered, mode } = shape;
    const { chance, now, stalls, armed } = options;
    this.name = `c${index + 1}`;
    const hosts = (from: number): string[] =>
      Array.from({ length: size }, (_, node) => `127.0.${index + 1}.${from + node}`);
    const build = (from: number): World =>
      new World({
        scope: this.name,
        system: `77104968881671581${index}`,
        profile,
        chance: chance.fork(from),
        hosts: hosts(from),
        generation,
        nowMs: now(),
        epochMs: options.epochMs,
        mode,
      });
    this.world = build(1);
    this.world.walRate = shape.walRate;
    this.evidence = new Evidence(profile, this.name);
    this.seats = this.world.nodes.map((node) => new Seat(this.world, node));
    const cloned = build(101);
    this.clone = { world: cloned, seats: cloned.nodes.map((node) => new Seat(cloned, node)) };
    this.aside = new Evidence(profile, this.name);
    const { name, world, seats, evidence, troubles } = this;
    this.scene = {
      cluster: name,
      isDiscovered,
      world,
      seats,
      evidence,
      profile,
      troubles,
      surviveMs: shape.surviveMs,
      stalls,
      armed,
      replacedMs: new Map(),
      namedUntilMs: new Map(),
    };
  }

  /** How rolecall is to be configured for it. Open it first. */
  get watched(): Watched {
    const nodes = this.seats.map(({ node }) => ({ name: node.name, api: `http://${node.host}:${node.port}` }));
    return { name: this.name, scope: this.world.scope, isDiscovered: this.shape.isDiscovered, nodes };
  }

  /** Sets the amount of WAL in bytes per second; without one the usual amount. */
  readonly setRate = (bytesPerSecond: number = this.shape.walRate): void => {
    this.world.walRate = bytesPerSecond;
  };

  /** Moves the truth to an instant. */
  advance(nowMs: number): void {
    this.world.tick(nowMs);
    if (this.#hasClone) this.clone?.world.tick(nowMs);
    this.troubles.feed(this.world, this.seats, nowMs);
    this.noteMoves(nowMs);
  }

  /** Takes that rolecall was restarted. */
  restarted(nowMs: number): void {
    this.evidence.restart(nowMs);
    this.oracle.restarted(nowMs);
    this.scene.replacedMs.clear();
  }

  /** Records which nodes rolecall has moved by now. To be called before answers are judged between two steps. */
  noteMoves(nowMs: number): void {
    if (this.aside.isEmpty) return;
    this.#judgeMoves(nowMs);
    for (const { name } of this.world.nodes) if (this.isMoved(name, nowMs)) this.troubles.noteMoved(name, nowMs);
  }

  /**
   * When the first node moves, checks whether rolecall had responses from at least as many sound witnesses as clones. A
   * list without the node gives no vote on its address (a node that is gone is in no list).
   */
  #judgeMoves(nowMs: number): void {
    const { troubles, evidence, profile } = this;
    const names = this.world.nodes.map(({ name }) => name);
    const moved = names.filter((name) => this.isMoved(name, nowMs));
    if (moved.length === 0) {
      // A node counts as moved for a moment after the last request to the clone.
      if (names.every((name) => troubles.isFree(name, nowMs - 1_000, "moved"))) troubles.isMoveAmbiguous = false;
      return;
    }
    const fresh = moved.filter((name) => troubles.isFree(name, nowMs - 100, "moved"));
    if (fresh.length === 0) return;
    const viewMs = 3 * profile.clusterMs + profile.timeoutMs;
    const clones = names.filter((name) => !troubles.isFree(name, nowMs - viewMs, "guestEver", "moved"));
    // Lists that came after the first request to the clone had no vote on the move.
    const movedMs = Math.min(...fresh.map((name) => this.#requestsToClone(name, nowMs)[0]?.arrivedMs ?? nowMs));
    const sound = names.filter((name) => {
      const newest = evidence.newestSure(name, "cluster", movedMs - profile.slackMs);
      const lists = evidence.since(name, "cluster", newest?.arrivedMs ?? Infinity).filter(({ document }) => document);
      return (
        !clones.includes(name) &&
        newest !== undefined &&
        newest.arrivedMs > nowMs - viewMs + profile.intervalMs &&
        fresh.every((other) => lists.every((list) => isMemberOf(list, other))) &&
        this.#answers(name, nowMs)
      );
    });
    if (clones.length > sound.length) troubles.isMoveAmbiguous = true;
  }

  /** Whether a node certainly answered rolecall's last request. */
  #answers(name: string, nowMs: number): boolean {
    return this.troubles.isFree(name, nowMs - this.profile.intervalMs * this.profile.fall, "status", "refused");
  }

  /** Whether rolecall polls a clone, at the clone's own address, in place of a node. */
  isMoved(node: string, nowMs: number): boolean {
    return this.#requestsToClone(node, nowMs).length > 0;
  }

  /**
   * Of an address that is no node's own, rolecall requests only the status and the member list (rule 10), so that it
   * requests `/liveness` of the clone only in the node's place.
   */
  #requestsToClone(node: string, nowMs: number): readonly Served[] {
    const fromMs = nowMs - 2 * this.profile.maxAgeMs;
    if (this.aside.since(node, "status", fromMs).length === 0) return [];
    return this.aside.since(node, "other", fromMs - livenessMs).filter(({ path }) => path === "/liveness");
  }

  /**
   * Whether the truth is as it should be: a running primary with the lock, and every other node streaming on its
   * timeline.
   */
  isSettled(nowMs: number): boolean {
    const { world, troubles, profile } = this;
    const { holding } = world;
    if (holding === null || nowMs - holding.sinceMs < profile.loopMs || !world.leads(world.node(holding.name)))
      return false;
    return world.nodes.every(({ name, shownTimeline }) => {
      if (name === holding.name) return troubles.isFree(name, nowMs - profile.loopMs, "notPrimary");
      return shownTimeline === world.timeline && troubles.isFree(name, nowMs - profile.loopMs, "detached");
    });
  }

  /** The truth in a few lines. */
  truth(nowMs: number): readonly string[] {
    const { world } = this;
    const { dcs } = world;
    const flags = [dcs.isDown && "DCS down", dcs.isPaused && "paused", dcs.hasFailsafe && "failsafe on"]
      .filter(Boolean)
      .join(", ");
    const held = world.holding === null ? "" : ` for ${((nowMs - world.holding.sinceMs) / 1_000).toFixed(2)} s`;
    const nodes = this.seats.map(({ node, mask, guest }) => {
      const { name, role, state, timeline, written, received, replayed, receiver, upstream, isStreaming } = node;
      const wal =
        role === "primary"
          ? `at ${written}`
          : `${isStreaming ? "streams" : receiver} from ${upstream} received ${received} replayed ${replayed}`;
      const faults = [
        !node.isUp && "off",
        node.isHalted && "halted",
        node.isManagerFrozen && "manager frozen",
        guest !== null && "guest",
      ]
        .concat([
          mask.refuses && "refuses",
          mask.claims && "claims",
          mask.frozenStatus !== null && "old status",
          mask.lose !== null && "loses",
        ])
        .concat([
          mask.view !== undefined && `view names ${mask.view}`,
          ...[...mask.wire].map(([kind, fault]) => `${kind} ${fault.kind}`),
        ])
        .filter(Boolean);
      const lease = node.leaseUntilMs > nowMs ? " holds a lease" : "";
      return `  ${name}: ${role} ${state} timeline ${timeline} ${wal}${lease}${dcs.cut.has(name) ? ", cut from the DCS" : ""}; ${faults.join(", ") || "no fault"}`;
    });
    return [`lock: ${world.holder(nowMs) ?? "nobody"}${held}${flags === "" ? "" : `; ${flags}`}`, ...nodes];
  }
}
