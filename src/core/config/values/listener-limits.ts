/** The default limits of a listener, which no load balancer reaches. Durations in ms. */
export const defaultLimits = {
  connections: 16_384,
  connectionsPerAddress: 4_096,
  headerTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 120_000,
  pipelined: 256,
  bodyMax: 1_048_576,
  callsInFlight: 4,
  callTimeoutMs: 600_000,
  fetches: 2,
};
