import type { ClusterConfig } from "../../../src/core/config/model/config.ts";
import type { ClientLimits, NodeConnection, NodeReply } from "../../../src/core/probe/client/client.ts";
import { clusterOf, nodeOf } from "../../../test/fake/config.ts";
import type { Chance } from "../chance.ts";
import type { Profile } from "../profile.ts";
import { epochMs } from "../sim/machine.ts";
import { timedOut } from "../sim/network-failures.ts";
import type { SeenTime } from "../sim/virtual-time.ts";
import { kindOf } from "../wire/mask.ts";
import { Seat } from "../wire/seat.ts";
import { World } from "../world/world.ts";

/** What a cheap cluster is made of. */
export interface CheapParts {
  readonly index: number;
  readonly size: number;
  readonly profile: Profile;
  readonly chance: Chance;
}

/** How the instances of a fleet reach the nodes of a cheap cluster. */
interface CheapLink {
  readonly edge: string;
  readonly time: SeenTime;
  readonly chance: Chance;
  readonly isCut: () => boolean;
}

/** How long the modelled cluster runs before its answers are taken, in virtual ms. */
const takenAtMs = 6_000;
/** How often the model moves meanwhile, in virtual ms. */
const tickMs = 100;
const port = 8008;

/** A cluster to which nothing happens: each node gives the answers of one instant. It counts what each one is asked. */
export class CheapCluster {
  readonly name: string;
  readonly config: ClusterConfig;
  readonly origins: readonly string[];
  /** Node -> how often it was asked for its status. */
  readonly asked: number[];
  /** Instance -> how often it has asked. */
  readonly askedBy = new Map<string, number>();
  readonly #seats: readonly Seat[];
  readonly #replies = new Map<string, NodeReply>();

  constructor({ index, size, profile, chance }: CheapParts) {
    this.name = `k${index + 1}`;
    const hosts = Array.from({ length: size }, (_, node) => `10.${index >> 8}.${index & 255}.${node + 1}`);
    const system = `7710500000000000${String(index).padStart(3, "0")}`;
    const world = new World({ scope: this.name, system, profile, chance, hosts, generation: 4, nowMs: 0, epochMs });
    world.walRate = 0;
    for (const node of world.nodes) node.port = port;
    for (let atMs = 0; atMs <= takenAtMs; atMs += tickMs) world.tick(atMs);
    this.#seats = world.nodes.map((node) => new Seat(world, node));
    this.origins = hosts.map((host) => `http://${host}:${port}`);
    this.asked = hosts.map(() => 0);
    const nodes = world.nodes.map(({ name }, at) => nodeOf({ name, api: this.origins[at] ?? "" }));
    this.config = clusterOf({ name: this.name, scope: this.name, nodes });
  }

  /** A connection to one of its nodes. */
  connect(origin: string, { timeoutMs }: ClientLimits, { edge, time, chance, isCut }: CheapLink): NodeConnection {
    const at = this.origins.indexOf(origin);
    return {
      get: (path) =>
        new Promise((resolve) => {
          if (isCut()) return void time.after("timer", timeoutMs, () => resolve(timedOut));
          if (kindOf(path) === "status") {
            this.asked[at] = (this.asked[at] ?? 0) + 1;
            this.askedBy.set(edge, (this.askedBy.get(edge) ?? 0) + 1);
          }
          time.after("delivery", 0.4 + 3.6 * chance.next(), () => resolve(this.#replyTo(at, path)));
        }),
      getStreamed: () => Promise.reject(new Error("Cannot stream: an API must not be asked for a page")),
      close: () => {},
    };
  }

  #replyTo(at: number, path: string): NodeReply {
    // All members have the same view.
    const key = kindOf(path) === "cluster" ? path : `${at} ${path}`;
    const known = this.#replies.get(key);
    if (known !== undefined) return known;
    const { status, document } = this.#seats[at]?.answer(path, takenAtMs) ?? { status: 404, document: undefined };
    // It would show that time does not pass.
    if (typeof document === "object" && document !== null) Reflect.deleteProperty(document, "dcs_last_seen");
    const reply = { status, body: Buffer.from(document === undefined ? "" : JSON.stringify(document)) };
    this.#replies.set(key, reply);
    return reply;
  }
}
