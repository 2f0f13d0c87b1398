/** The kinds of events that begin the conditions of canaries, and those that end them. */
export const canaryEnds = {
  canary_astray: "canary_back",
  canary_write_failed: "canary_write_passed",
  canary_read_failed: "canary_read_passed",
  canary_unfit: "canary_fit",
} as const;

type CanaryEnds = typeof canaryEnds;

declare module "../../core/events/cluster-event.ts" {
  interface FeatureEventKinds {
    readonly canary: keyof CanaryEnds | CanaryEnds[keyof CanaryEnds];
  }
}
