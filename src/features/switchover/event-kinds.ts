/** Kinds of events of switchovers. They begin and end no condition. */
export const switchoverChanges = [
  "switchover_ended",
  "restart_ended",
  "pauses_taken_over",
  "pauses_lifted",
  "hold_began",
  "hold_ended",
] as const;

declare module "../../core/events/cluster-event.ts" {
  interface FeatureEventKinds {
    readonly switchover: (typeof switchoverChanges)[number];
  }
}
