import { clusterDocument, type Document, statusDocument } from "../world/documents.ts";
import { modelNode } from "../world/node.ts";
import type { World } from "../world/world.ts";
import { kindOf, routeOfPath } from "../wire/mask.ts";
import { type Answer, Seat } from "../wire/seat.ts";

/** Where a hostile list puts a member. */
type Place = "true" | "own" | "side" | "other" | "omitted" | "nowhere" | "unusable";

/** What a hostile server says. */
export interface Lies {
  /** The names that it states, one after the other; `null`: none. */
  readonly states: readonly (string | null)[];
  /** Whether it claims the lock. */
  readonly claims: boolean;
  readonly isOfOtherSystem: boolean;
  /** Where it puts each member: at its own address, another hostile server's, another member's, and so on. */
  readonly lists: readonly Place[];
  /** How many members it invents, at addresses of hostile servers. */
  readonly invented: number;
  /** The leader that its list names. */
  readonly leader: string | null;
  /** Whether it gives no list. */
  readonly isMute: boolean;
}

/** A server that copies the documents of a cluster's nodes, and changes names, roles and addresses in them. */
export class HostileSeat extends Seat {
  readonly #lies: Lies;
  readonly #sides: readonly string[];
  #stated = 0;

  /** @param sides the addresses of other hostile servers */
  constructor(
    world: World,
    { origin, lies }: { readonly origin: string; readonly lies: Lies },
    sides: readonly string[],
  ) {
    super(world, modelNode("hostile", new URL(origin).hostname, 4));
    this.#lies = lies;
    this.#sides = sides;
  }

  override get waitsForDcs(): boolean {
    return false;
  }

  override answer(path: string, nowMs: number): Answer {
    const route = routeOfPath(path);
    if (kindOf(route) === "status") return this.#status(nowMs);
    if (kindOf(route) === "cluster") return { status: 200, document: this.#lies.isMute ? null : this.#cluster(nowMs) };
    return { status: 200, document: undefined };
  }

  #status(nowMs: number): Answer {
    const { claims, states, isOfOtherSystem } = this.#lies;
    const { world } = this;
    const name = states[this.#stated % states.length] ?? null;
    this.#stated += 1;
    const copied = world.nodes.find((node) => world.leads(node) === claims) ?? world.nodes[0];
    if (copied === undefined) throw new Error("Cannot lie: the cluster must have a node");
    const document = statusDocument(world, copied, nowMs);
    if (isOfOtherSystem) document["database_system_identifier"] = "6999999999999999999";
    if (claims) document["role"] = copied.generation === 3 ? "master" : "primary";
    const manager = { version: name === null ? "3.0.2" : "4.1.4", scope: world.scope };
    document["patroni"] = name === null ? manager : { ...manager, name };
    return { status: claims ? 200 : 503, document };
  }

  #cluster(nowMs: number): Document {
    const { world } = this;
    const { lists, invented, leader } = this.#lies;
    const [copied] = world.nodes;
    if (copied === undefined) throw new Error("Cannot lie: the cluster must have a node");
    const document = clusterDocument(world, copied, leader, nowMs);
    const rows = (document["members"] as readonly Document[]).flatMap((row) => {
      const at = world.nodes.findIndex(({ name }) => name === row["name"]);
      const place = lists[at] ?? "true";
      return place === "omitted" ? [] : [{ ...row, api_url: this.#apiOf(at, place) }];
    });
    const template = rows[0] ?? { state: "running", role: "replica" };
    const others = Array.from({ length: invented }, (_, at) => ({
      ...template,
      name: at === 0 ? "evil" : `evil${at}`,
      api_url: `${at === 0 ? this.#own : (this.#sides[at % this.#sides.length] ?? this.#own)}/patroni`,
    }));
    return { ...document, members: [...rows, ...others] };
  }

  get #own(): string {
    return `http://${this.node.host}:8008`;
  }

  #apiOf(member: number, place: Exclude<Place, "omitted">): string {
    const { nodes } = this.world;
    const hostOf = (at: number): string => `http://${nodes[at % nodes.length]?.host ?? "10.0.0.1"}:8008`;
    switch (place) {
      case "true":
        return `${hostOf(member)}/patroni`;
      case "other":
        return `${hostOf(member + 1)}/patroni`;
      case "own":
        return `${this.#own}/patroni`;
      case "side":
        return `${this.#sides[member % this.#sides.length] ?? this.#own}/patroni`;
      case "nowhere":
        return "http://10.99.0.1:8008/patroni";
      case "unusable":
        return "http:///patroni";
    }
  }
}
