import type { Document } from "../world/documents.ts";

/** The kinds of requests that fail apart from each other. */
export type Kind = "status" | "cluster" | "history" | "other";

/** How responses of one kind are corrupted in transit. */
export type WireFault =
  | { readonly kind: "hang" }
  /** The whole answer comes late. */
  | { readonly kind: "late"; readonly ms: number }
  /** The answer comes in pieces over this time. */
  | { readonly kind: "drip"; readonly ms: number }
  | { readonly kind: "reset" }
  | { readonly kind: "garbage" }
  | { readonly kind: "error" }
  | { readonly kind: "truncate" };

/** The difference between a node's truth and its responses. Faults set it, and healing clears it. */
export interface Mask {
  readonly wire: Map<Kind, WireFault>;
  /** Nothing listens at its address. */
  refuses: boolean;
  /** Packets of rolecall do not reach it. */
  isUnreachable: boolean;
  /** Fields that every so many status documents lack; null in place of the value where `asNull`. */
  lose: { readonly field: string; readonly every: number; readonly asNull: boolean } | null;
  /** Answers 200 to `GET /leader` and calls itself primary whatever the truth. */
  claims: boolean;
  /** A response that is repeated. */
  frozenStatus: { readonly status: number; readonly document: Document } | null;
  /** The leader that its cluster document names instead of the true one; undefined: the true one. */
  view: string | null | undefined;
  /** Its history lacks the newest rows beyond this count. */
  historyRows: number | null;
}

/** A mask that changes nothing. */
export function clearMask(): Mask {
  return {
    wire: new Map(),
    refuses: false,
    isUnreachable: false,
    lose: null,
    claims: false,
    frozenStatus: null,
    view: undefined,
    historyRows: null,
  };
}

/** Whether the node's report of the lock is untrue, or may be. */
export function isLying(mask: Mask): boolean {
  return mask.claims || mask.frozenStatus !== null || mask.view !== undefined;
}

/** A request path without its query. */
export function routeOfPath(path: string): string {
  const end = path.indexOf("?");
  return end < 0 ? path : path.slice(0, end);
}

/** The kind of a request path. */
export function kindOf(path: string): Kind {
  const route = routeOfPath(path);
  if (route === "/cluster") return "cluster";
  if (route === "/history") return "history";
  return route === "/leader" ? "status" : "other";
}
