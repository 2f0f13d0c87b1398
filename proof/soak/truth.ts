import type { Simulator } from "../../src/tools/simulator/simulator.ts";

/** What is true of a node at an instant. */
export interface NodeTruth {
  readonly name: string;
  /** The faults that it has, such as `freeze`. */
  readonly faults: readonly string[];
  readonly role: string;
  /** What its database does, such as `running`. */
  readonly state: string;
  readonly motion: string | null;
  readonly timeline: number;
  readonly following: string | null;
  readonly replayed: number;
}

/** What is true of a cluster from an instant on. */
export interface Truth {
  readonly atMs: number;
  readonly holder: string | null;
  readonly position: number;
  readonly nodes: ReadonlyMap<string, NodeTruth>;
  /** Drained nodes. */
  readonly drained: ReadonlySet<string>;
  /** The time since the look before this one: what happened in between is not known. */
  readonly gapMs: number;
}

interface Model {
  readonly lock: { readonly holder: string } | null;
  readonly nodes: readonly {
    readonly name: string;
    readonly faults: Record<string, unknown>;
    readonly state: string;
    readonly role: string;
    readonly timeline: number;
    readonly following: string | null;
    readonly received: number;
    readonly replayed: number;
    readonly motion: string | null;
  }[];
}

/** How long looks are kept, in ms: longer than any rule about answers looks back. */
const keptMs = 40_000;

/** The recent past of one simulated cluster. */
export class TruthRecord {
  readonly cluster: string;
  /** Nodes that are drained now; the operator's actions keep it. */
  readonly drained = new Set<string>();
  readonly looks: Truth[] = [];
  /** The last instant at which anything but a position changed. */
  changedMs = 0;
  #signature = "";

  constructor(cluster: string) {
    this.cluster = cluster;
  }

  /** Records what is true now. @returns the new look */
  look(simulator: Simulator, nowMs: number): Truth {
    const { lock, nodes } = simulator.model() as unknown as Model;
    const holder = lock?.holder ?? null;
    const truth: Truth = {
      atMs: nowMs,
      holder,
      position: Math.max(0, ...nodes.filter(({ name }) => name === holder).map(({ received }) => received)),
      nodes: new Map(nodes.map(({ faults, ...node }) => [node.name, { ...node, faults: Object.keys(faults) }])),
      drained: new Set(this.drained),
      gapMs: nowMs - (this.looks.at(-1)?.atMs ?? nowMs),
    };
    const signature = JSON.stringify([
      holder,
      [...this.drained],
      nodes.map((node) => ({ ...node, received: 0, replayed: 0 })),
    ]);
    if (signature !== this.#signature) this.changedMs = nowMs;
    this.#signature = signature;
    this.looks.push(truth);
    if ((this.looks[0]?.atMs ?? nowMs) < nowMs - keptMs) this.looks.splice(0, this.looks.length >> 2);
    return truth;
  }

  /** The looks of a span, the last one before it and the first one after it: what changed at its ends is in both. */
  between(fromMs: number, untilMs: number): readonly Truth[] {
    const first = this.looks.findLastIndex(({ atMs }) => atMs <= fromMs);
    const after = this.looks.findIndex(({ atMs }) => atMs > untilMs);
    return this.looks.slice(Math.max(0, first), after < 0 ? undefined : after + 1);
  }
}
