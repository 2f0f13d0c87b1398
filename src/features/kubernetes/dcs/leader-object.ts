/** What Patroni keeps of a cluster in Kubernetes: the annotations of objects with the labels of the cluster. Pure. */
import { nameOf, objectOf, type JsonObject } from "../../../core/cluster/values/json.ts";
import type { ClusterConfig, DcsConfig } from "../../../core/config/model/config.ts";
import type { DcsChange } from "../../../core/dcs/dcs-source.ts";

/** Where the objects of a cluster are. */
export interface LeaderPlace {
  /** `/api/v1/namespaces/databases/configmaps` */
  readonly path: string;
  /** The label selector of the objects of the cluster. */
  readonly labels: string;
  /** The names of the objects: `leader` is in Endpoints that of the Service itself. */
  readonly names: { readonly leader: string; readonly failover: string; readonly others: ReadonlySet<string> };
}

/**
 * Where the objects of a cluster are.
 * @param namespace that of rolecall itself, where the configuration names none
 */
export function leaderPlace(
  { name, scope: ownScope }: Pick<ClusterConfig, "name" | "scope">,
  { scope: written, kubernetes }: Pick<DcsConfig, "scope" | "kubernetes">,
  namespace: () => string,
): LeaderPlace {
  const scope = written ?? ownScope ?? name;
  const object = kubernetes?.object ?? "configmaps";
  return {
    path: `/api/v1/namespaces/${kubernetes?.namespace ?? namespace()}/${object}`,
    labels: kubernetes?.selector ?? `cluster-name=${scope}`,
    names: {
      leader: object === "endpoints" ? scope : `${scope}-leader`,
      failover: `${scope}-failover`,
      others: new Set([`${scope}-failover`, `${scope}-sync`, `${scope}-failsafe`]),
    },
  };
}

/** The member that a leader object names; `null`: nobody. */
export function leaderIn(object: JsonObject | undefined): string | null {
  const leader = nameOf(annotationsOf(object)["leader"], memberMax);
  return leader === "" ? null : leader;
}

/** Whether the object of failovers states one that is to be carried out. */
export function hasFailover(object: JsonObject | undefined): boolean {
  const { leader, member, scheduled_at: at } = annotationsOf(object);
  return [leader, member, at].some((value) => typeof value === "string" && value !== "");
}

/** The most objects of a cluster whose last state a watch remembers. */
const knownMax = 64;

/**
 * Finds the changes that matter among the events of a watch: the leader renews its object in each round of its loop.
 */
export class LeaderChanges {
  readonly #names: LeaderPlace["names"];
  readonly #known = new Map<string, string>();
  #leader: string | null;

  /** @param leader the one that was read before the watch began */
  constructor(names: LeaderPlace["names"], leader: string | null) {
    this.#names = names;
    this.#leader = leader;
  }

  /** @returns `null` for an event that changes nothing */
  changeOf(type: unknown, object: JsonObject): DcsChange | null {
    const name = nameOf(objectOf(object["metadata"])["name"], 253);
    if (name === null) return null;
    if (name === this.#names.leader) {
      const names = type === "DELETED" ? null : leaderIn(object);
      if (names === this.#leader) return null;
      this.#leader = names;
      return { kind: "leader", names };
    }
    if (!this.#names.others.has(name) || this.#known.size >= knownMax) return null;
    const said = type === "DELETED" ? "" : JSON.stringify(annotationsOf(object));
    if (this.#known.get(name) === said) return null;
    this.#known.set(name, said);
    return { kind: "other", key: name };
  }
}

const memberMax = 128;

function annotationsOf(object: JsonObject | undefined): JsonObject {
  return objectOf(objectOf(object?.["metadata"])["annotations"]);
}
