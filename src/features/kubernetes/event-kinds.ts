/** The kinds of events that begin the conditions of Services of Kubernetes, and those that end them. */
export const serviceEnds = {
  service_unpublished: "service_published",
  service_claimed: "service_unclaimed",
  service_differs: "service_agrees",
} as const;

type ServiceEnds = typeof serviceEnds;

declare module "../../core/events/cluster-event.ts" {
  interface FeatureEventKinds {
    readonly kubernetes: keyof ServiceEnds | ServiceEnds[keyof ServiceEnds];
  }
}
