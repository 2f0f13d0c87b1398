/** What the weight of a server depends on, at one instant. */
export interface WeightInput {
  /** In ms of rolecall's clock. */
  readonly nowMs: number;
  /** Whether the server's check passes. */
  readonly isFit: boolean;
  /** The node's lag in time, in ms; `null` if unknown. */
  readonly lagMs: number | null;
  /** When PostgreSQL started, as the node states it; `null` if it does not. */
  readonly startedAt: string | null;
}
