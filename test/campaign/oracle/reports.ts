import { statedPosition } from "../world/documents.ts";
import { documentOf, type Served } from "../wire/evidence.ts";

/** The highest position that an answer states, or null. */
export function topOf(served: Served | undefined): number | null {
  const stated = statedPosition(documentOf(served));
  if (stated === null) return null;
  return "location" in stated ? stated.location : Math.max(stated.received, stated.replayed);
}

/** The replayed position that an answer states, or null. */
export function replayedOf(served: Served | undefined): number | null {
  const stated = statedPosition(documentOf(served));
  if (stated === null) return null;
  return "location" in stated ? stated.location : stated.replayed;
}

/** The timeline that an answer states. */
export function timelineOf(served: Served | undefined): unknown {
  return documentOf(served)?.["timeline"];
}

/** Whether the sender list of an answer shows a node. */
export function isListedBy(served: Served | undefined, node: string): boolean {
  const list = documentOf(served)?.["replication"];
  return (
    Array.isArray(list) &&
    (list as { application_name?: unknown }[]).some(({ application_name }) => application_name === node)
  );
}
