import type { AskedNode } from "../../core/cluster/asked-node.ts";
import type { ClusterState } from "../../core/cluster/snapshot.ts";
import { askedOverview, type AskedOverview } from "../../core/health/documents/asked-nodes.ts";
import type { AnswerCounter } from "../../core/http/message/answer-counter.ts";
import type { Store } from "../../core/state/store.ts";
import { RecentValue } from "./recent-value.ts";

/** What the nodes that balancers ask for are read from. */
export interface AskedNodesContext {
  readonly store: Pick<Store, "onChange">;
  readonly counter: Pick<AnswerCounter, "nodes">;
  readonly listeners: () => {
    /** What workers were asked for. */
    asked(): readonly AskedNode[];
    /** Gets the newest counts from the workers. */
    refresh(): Promise<void>;
  };
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

const noneAsked: AskedOverview = { nodes: new Map(), nonMembers: [] };

/** The names of a cluster's members, and since when each of them is one. */
interface KnownMembers {
  readonly index: ClusterState["index"];
  readonly sinceMs: ReadonlyMap<string, number>;
}

/** Knows for which nodes balancers ask, and how long each node has been a member. */
export class AskedNodes {
  readonly #context: AskedNodesContext;
  readonly #members = new Map<string, KnownMembers>();
  readonly #recent: RecentValue<(cluster: ClusterState) => AskedOverview>;

  constructor(context: AskedNodesContext) {
    this.#context = context;
    this.#recent = new RecentValue(
      () => noneAsked,
      () => this.describe(),
      context.now,
    );
    context.store.onChange((_, cluster) => void this.#membersOf(cluster));
  }

  /** Gets the newest counts of all processes. @returns describes a cluster by them */
  async describe(): Promise<(cluster: ClusterState) => AskedOverview> {
    const { counter, listeners, now } = this.#context;
    await listeners().refresh();
    const rows = [...counter.nodes.rows(), ...listeners().asked()];
    const nowMs = now();
    return (cluster) => {
      const { sinceMs } = this.#membersOf(cluster);
      const memberForMs = new Map([...sinceMs].map(([name, ms]) => [name, nowMs - ms]));
      return askedOverview(cluster, rows, memberForMs);
    };
  }

  /** Forgets all other clusters. */
  retain(clusters: readonly string[]): void {
    for (const name of this.#members.keys()) if (!clusters.includes(name)) this.#members.delete(name);
  }

  /** Describes a cluster without waiting: by the counts of some seconds ago. Gets newer ones if that is due. */
  readonly of = (cluster: ClusterState): AskedOverview => this.#recent.current(cluster);

  /** The index of a cluster is another object only if its members changed. */
  #membersOf({ name, index }: ClusterState): KnownMembers {
    const known = this.#members.get(name);
    if (known?.index === index) return known;
    const nowMs = this.#context.now();
    const sinceMs = new Map([...index.keys()].map((node) => [node, known?.sinceMs.get(node) ?? nowMs]));
    const members = { index, sinceMs };
    this.#members.set(name, members);
    return members;
  }
}
