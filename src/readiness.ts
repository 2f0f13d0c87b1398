import { isFresh, maxAgeMs } from "./health/freshness.ts";
import type { Store } from "./store.ts";

/** Whether there is no fresh evidence of any node of any cluster: then the fault is ours (design.md, rule 9). */
export function isBlindEverywhere(store: Store, nowMs: number): boolean {
  return store.current.parts.every((part) => {
    const settings = store.settings(part.name);
    return settings === undefined || !part.nodes.some((node) => isFresh(node, maxAgeMs(part, settings), nowMs));
  });
}
