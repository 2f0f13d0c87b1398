/** Counts pushes. */
export interface PushCounter {
  /** Sets whether the balancer's API can be used: 0 or 1. */
  set(name: "balancerUp", labels: { readonly balancer: string }, value: number): void;
  /** Counts changes, by what came of them. */
  count(name: "balancerPushes", labels: { readonly balancer: string; readonly outcome: string }, by?: number): void;
  /** Counts a server whose sessions were closed. */
  count(name: "balancerCuts", labels: { readonly balancer: string }): void;
  observe(name: "balancerPushDurations", labels: { readonly balancer: string }, durationMs: number): void;
}
