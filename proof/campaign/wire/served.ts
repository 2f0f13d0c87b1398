import type { Document } from "../world/documents.ts";
import type { Kind } from "./mask.ts";

/**
 * One request that a node was sent, and how its answer went out. Instants are the campaign's monotonic milliseconds.
 */
export interface Served {
  readonly node: string;
  readonly kind: Kind;
  readonly path: string;
  readonly arrivedMs: number;
  /** When the last byte of a whole answer had been handed to the system; null while it has not, or never will. */
  doneMs: number | null;
  /** Either side aborted it. */
  isBroken: boolean;
  status: number;
  /** The document sent; null where none, or none that can be read, was sent. */
  document: Document | readonly unknown[] | null;
  /** Whether the answer came from the node itself: not from a clone that sits at its address. */
  readonly isGenuine: boolean;
}

/** The leader that a cluster document names; null: none; undefined: not a cluster document. */
export function namedLeader({ document }: Served): string | null | undefined {
  if (document === null || Array.isArray(document)) return undefined;
  const members = membersOf(document as Document);
  if (members.length === 0) return undefined;
  const leader = members.find(({ role }) => role === "leader" || role === "standby_leader");
  return leader === undefined ? null : String(leader.name);
}

/** Whether a cluster document lists a node. */
export function isMemberOf(served: Served, node: string): boolean {
  return membersOf(documentOf(served)).some(({ name }) => name === node);
}

/** The row of a member in a cluster document; undefined if it has none. */
export function rowOf(served: Served, node: string): Document | undefined {
  return membersOf(documentOf(served)).find(({ name }) => name === node);
}

function membersOf(document: Document | null): readonly { readonly name?: unknown; readonly role?: unknown }[] {
  const members = document?.["members"];
  return Array.isArray(members) ? (members as { name?: unknown; role?: unknown }[]) : [];
}

/** A status document's object, or null. */
export function documentOf(served: Served | undefined): Document | null {
  return served === undefined || served.document === null || Array.isArray(served.document)
    ? null
    : (served.document as Document);
}
