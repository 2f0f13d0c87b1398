/** The kind of event that begins the condition of the audit, and the one that ends it. */
export const routeEnds = { routes_differ: "routes_agree" } as const;

declare module "../../core/events/cluster-event.ts" {
  interface FeatureEventKinds {
    readonly audit: "routes_differ" | "routes_agree";
  }
}
