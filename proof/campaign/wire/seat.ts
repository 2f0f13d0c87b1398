import {
  claims,
  clusterDocument,
  configDocument,
  type Document,
  historyDocument,
  statusDocument,
} from "../world/documents.ts";
import { isManaging, type ModelNode } from "../world/node.ts";
import type { World } from "../world/world.ts";
import { clearMask, kindOf, type Mask, routeOfPath } from "./mask.ts";

/** A node's next response. `document` undefined: a bare status; null: no response, the connection closes. */
export interface Answer {
  readonly status: number;
  readonly document: Document | readonly unknown[] | null | undefined;
}

/** The occupant of an address: a node of a world behind a mask. A clone may replace it temporarily. */
export class Seat {
  readonly mask: Mask = clearMask();
  #requests = 0;

  readonly world: World;
  readonly node: ModelNode;
  /** Another cluster's node that answers here for now. */
  guest: Seat | null;

  constructor(world: World, node: ModelNode, guest: Seat | null = null) {
    this.world = world;
    this.node = node;
    this.guest = guest;
  }

  /** Whether requests can be answered now: neither machine nor manager is frozen. */
  get isMoving(): boolean {
    return this.guest === null ? isManaging(this.node) : this.guest.isMoving;
  }

  /** Whether the address listens at all. */
  get isListening(): boolean {
    return this.guest !== null || (this.node.isUp && !this.mask.refuses);
  }

  /** What it answers to a request at an instant. */
  answer(path: string, nowMs: number): Answer {
    if (this.guest !== null) return this.guest.answer(path, nowMs);
    const route = routeOfPath(path);
    switch (kindOf(route)) {
      case "status":
        return this.#status(route, nowMs);
      case "cluster":
        return this.#cluster(nowMs);
      case "history":
        return this.#needingDcs(this.#history());
      case "other":
        if (route === "/config") return this.#needingDcs({ status: 200, document: configDocument(this.world) });
        if (route === "/liveness" || route === "/readiness") return { status: 200, document: undefined };
        if (route === "/failsafe") return { status: 502, document: undefined };
        return { status: 503, document: statusDocument(this.world, this.node, nowMs) };
    }
  }

  /** Whether an answer that needs the DCS has to wait for it in vain. */
  get waitsForDcs(): boolean {
    return this.guest === null && !this.world.reaches(this.node) && this.mask.view === undefined;
  }

  #status(route: string, nowMs: number): Answer {
    const { mask, node, world } = this;
    this.#requests += 1;
    if (mask.frozenStatus !== null) return mask.frozenStatus;
    const document = statusDocument(world, node, nowMs);
    const holds = mask.claims || claims(world, node, nowMs);
    if (mask.claims && world.isStandby) {
      document["role"] = "standby_leader";
      document["state"] = "running";
    } else if (mask.claims) {
      document["role"] = node.generation === 3 ? "master" : "primary";
      document["state"] = "running";
      delete document["replication_state"];
      document["xlog"] = { location: Math.max(node.written, node.received) };
      document["timeline"] = node.timeline;
    }
    if (mask.lose !== null && this.#requests % mask.lose.every === 0) {
      if (mask.lose.asNull) document[mask.lose.field] = null;
      else delete document[mask.lose.field];
    }
    const isFit = route === "/leader" || route === "/primary" || route === "/" ? holds : true;
    return { status: isFit ? 200 : 503, document };
  }

  #cluster(nowMs: number): Answer {
    const { mask, node, world } = this;
    if (mask.view !== undefined) return { status: 200, document: clusterDocument(world, node, mask.view, nowMs) };
    return this.#needingDcs({ status: 200, document: clusterDocument(world, node, world.holder(nowMs), nowMs) });
  }

  #history(): Answer {
    const rows = historyDocument(this.world, this.node);
    return { status: 200, document: this.mask.historyRows === null ? rows : rows.slice(0, this.mask.historyRows) };
  }

  #needingDcs(answer: Answer): Answer {
    if (this.world.reaches(this.node)) {
      this.node.historyRows = this.world.forks.length;
      return answer;
    }
    // A failed look at the DCS resets the node's own view.
    this.node.hasView = false;
    return { status: 503, document: null };
  }
}
