/** How the weight of a server in a read pool follows its lag and its warm-up. Durations in ms. */
export interface WeightConfig {
  /** What the weight follows. `lag`: the node's lag in time. */
  readonly by: "lag";
  /** Up to this lag a server has its full weight. */
  readonly fullMs: number;
  /** From this lag on a server has only the floor. Greater than `fullMs`. */
  readonly noneMs: number;
  /** The lowest weight, in percent, at least 1: whether a server gets any traffic is up to its check. */
  readonly floor: number;
  /** How long the weight rises after PostgreSQL restarted; 0: no warm-up. */
  readonly warmUpMs: number;
}
