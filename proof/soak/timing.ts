/** The times that rolecall and the clusters of a soak are configured with, in ms, and the clusters' WAL rate. */
export const timing = {
  intervalMs: 100,
  timeoutMs: 2_500,
  /** 3 * interval + timeout (probe.max_age). */
  maxAgeMs: 2_800,
  attachMs: 4_000,
  ttlMs: 10_000,
  loopMs: 1_000,
  retryMs: 1_000,
  demotedMs: 5_000,
  walBytesPerSecond: 262_144,
  /** The pause between two looks at the truth: how old what is known of it can be. */
  lookMs: 50,
} as const;
