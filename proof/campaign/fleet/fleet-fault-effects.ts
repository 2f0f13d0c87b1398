import type { FleetKeys } from "../../../test/fake/fleet-keys.ts";
import type { VirtualTime } from "../sim/virtual-time.ts";
import type { CheapWatch } from "./cheap-watch.ts";
import type { EdgeLinks } from "./edge-links.ts";
import type { FleetFault, FleetFaultKind } from "./fleet-plan.ts";
import type { FleetPromises } from "./fleet-promises.ts";
import type { VirtualEdge } from "./virtual-edge.ts";

/** What faults of a fleet act on. */
export interface FleetFaultsParts {
  readonly time: VirtualTime;
  readonly edges: readonly VirtualEdge[];
  readonly links: EdgeLinks;
  readonly keys: FleetKeys;
  readonly promises: FleetPromises;
  readonly watch: CheapWatch;
  readonly leaseMs: number;
}

/** How slow a slow store is at most, in ms. */
const slowMs = 700;
/** What an instance may not hear while others do. */
const hiding: readonly FleetFaultKind[] = ["freeze", "suspend", "cutPeers", "partition", "hold", "breakStreams"];

/** Begins and ends the faults of a fleet. */
export class FleetFaultEffects {
  readonly #parts: FleetFaultsParts;
  /** The keys and leases of an earlier time. */
  #older: Pick<FleetKeys, "keys" | "leases"> | null = null;

  constructor(parts: FleetFaultsParts) {
    this.#parts = parts;
  }

  /** Begins a fault. @returns ends it */
  begin(fault: FleetFault): () => void {
    const edge = this.#parts.edges[fault.edge];
    if (edge === undefined) throw new Error(`Cannot begin ${fault.name}: its instance must exist`);
    this.#happened(fault.kind);
    const end = this.#begin(fault, edge);
    for (const each of this.#parts.edges) each.reachStore();
    return () => {
      end();
      this.#happened(fault.kind);
      for (const each of this.#parts.edges) each.reachStore();
    };
  }

  #happened(kind: FleetFaultKind): void {
    this.#parts.promises.happened();
    this.#parts.watch.happened(hiding.includes(kind));
  }

  #begin({ kind, forMs, pick }: FleetFault, edge: VirtualEdge): () => void {
    const { links, edges, watch } = this.#parts;
    const others = edges.filter((other) => other !== edge);
    const start = (): void => edge.start();
    switch (kind) {
      case "kill":
        edge.kill(pick % 2 === 0);
        if (forMs < this.#parts.leaseMs) watch.hasForgotten(edge);
        return start;
      case "stop":
        edge.stop();
        return start;
      case "late":
        return start;
      case "freeze":
      case "suspend":
        edge.standStill(kind, forMs);
        return () => {};
      case "cutStore":
        links.cut(edge.name, "store", forMs);
        return () => {};
      case "cutNodes":
        links.cut(edge.name, "nodes", forMs);
        return () => {};
      case "cutPeers":
        for (const other of others) links.cutPeers(edge.name, other.name, forMs);
        return () => {};
      case "partition":
        this.#cutApart(
          edges.map((_, at) => ((pick >> (at % 16)) & 1) === 1),
          forMs,
        );
        return () => {};
      case "hold":
        for (const other of others) links.holdPeers(edge.name, other.name, forMs);
        return () => {};
      case "breakStreams":
        edge.breakStreams();
        return () => {};
      case "drainMember":
        this.#drainMember(edge, others[pick % others.length] ?? edge, forMs);
        return () => {};
      case "drainNode":
        void watch.drain(edge, pick, forMs);
        return () => {};
      case "storeDown":
      case "storeOlder":
      case "storeSlow":
        return this.#disturbStore(kind, pick);
    }
  }

  #cutApart(sides: readonly boolean[], forMs: number): void {
    const { edges, links } = this.#parts;
    for (const [at, one] of edges.entries())
      for (const [of, other] of edges.entries())
        if (at < of && sides[at] !== sides[of]) links.cutPeers(one.name, other.name, forMs);
  }

  /** An operator asks any instance for it. */
  #drainMember(asked: VirtualEdge, drained: VirtualEdge, forMs: number): void {
    const about = { by: "ann", until: null };
    if (asked.isDown || asked.isFrozen) return;
    const id = new URL(drained.url).host;
    // It is refused where the store is not reached.
    void asked.membership?.drain(id, about, Math.ceil(forMs / 1_000)).catch(() => undefined);
  }

  #disturbStore(kind: "storeDown" | "storeOlder" | "storeSlow", pick: number): () => void {
    const { keys, promises, time } = this.#parts;
    if (kind === "storeSlow") {
      const from = keys.latencyMs;
      let state = pick;
      keys.latencyMs = () => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        return 1 + (state % slowMs);
      };
      promises.happened({ isSlow: true });
      return () => {
        keys.latencyMs = from;
        promises.happened({ isSlow: false });
      };
    }
    keys.isDown = true;
    return () => {
      if (kind === "storeOlder" && this.#older !== null) {
        keys.keys = new Map(this.#older.keys);
        keys.leases = new Map(this.#older.leases);
      }
      keys.restart();
      promises.storeReplaced();
      void time;
    };
  }

  /** Keeps what the store has now, to come back later. */
  keepOlder(): void {
    const { keys } = this.#parts;
    if (!keys.isDown) this.#older = { keys: new Map(keys.keys), leases: new Map(keys.leases) };
  }
}
