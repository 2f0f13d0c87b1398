/** The kind of event that begins the condition of a pooler that does not answer, and the one that ends it. */
export const poolerEnds = { pooler_down: "pooler_up" } as const;

/** Kinds of events of poolers that begin and end no condition. */
export const poolerChanges = ["pooler_file_repaired"] as const;

declare module "../../core/events/cluster-event.ts" {
  interface FeatureEventKinds {
    readonly pgbouncer: "pooler_down" | "pooler_up" | (typeof poolerChanges)[number];
  }
}
