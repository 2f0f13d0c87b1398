/** The spans of one kind of run: rolecall's own, and those of the modelled clusters. All in milliseconds. */
export interface Profile {
  readonly name: "scaled" | "half" | "default";
  /** rolecall's configuration. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly connectMs: number;
  readonly maxAgeMs: number;
  readonly clusterMs: number;
  readonly attachMs: number;
  readonly demotedMs: number;
  readonly fall: number;
  /** The modelled cluster manager. */
  readonly ttlMs: number;
  readonly loopMs: number;
  readonly retryMs: number;
  /** How long a sender lists a silent receiver. */
  readonly senderTimeoutMs: number;
  /** The requested limit of lag in time. */
  readonly lagTimeMs: number;
  /** How often the campaign queries each cluster. */
  readonly askEveryMs: number;
  /** The part of an episode in which faults begin. */
  readonly faultsMs: number;
  /** How long after the last fault, and once the truth is settled, every sound node must be fit. */
  readonly recoveryMs: number;
  /**
   * How long a holder may be refused once it and its witnesses are sound: rests of 5 s, rounds 1 s apart, one round.
   */
  readonly confirmMs: number;
  /** What the scheduling of a shared machine costs without counting as a stall. */
  readonly slackMs: number;
}

const scaled: Profile = {
  name: "scaled",
  intervalMs: 200,
  timeoutMs: 500,
  connectMs: 250,
  maxAgeMs: 1_100,
  clusterMs: 600,
  attachMs: 2_500,
  demotedMs: 4_000,
  fall: 3,
  ttlMs: 4_000,
  loopMs: 600,
  retryMs: 600,
  senderTimeoutMs: 7_000,
  lagTimeMs: 1_000,
  askEveryMs: 60,
  faultsMs: 10_000,
  recoveryMs: 10_000,
  confirmMs: 8_000,
  slackMs: 150,
};

/** For a busy machine: what a stall takes is a smaller part of every bound. */
const half: Profile = {
  name: "half",
  intervalMs: 400,
  timeoutMs: 1_000,
  connectMs: 400,
  maxAgeMs: 2_200,
  clusterMs: 1_200,
  attachMs: 4_000,
  demotedMs: 8_000,
  fall: 3,
  ttlMs: 6_000,
  loopMs: 1_000,
  retryMs: 1_000,
  senderTimeoutMs: 14_000,
  lagTimeMs: 2_000,
  askEveryMs: 100,
  faultsMs: 18_000,
  recoveryMs: 12_000,
  confirmMs: 9_000,
  slackMs: 200,
};

const standard: Profile = {
  name: "default",
  intervalMs: 1_000,
  timeoutMs: 2_500,
  connectMs: 500,
  maxAgeMs: 5_500,
  clusterMs: 3_000,
  attachMs: 10_000,
  demotedMs: 60_000,
  fall: 3,
  ttlMs: 12_000,
  loopMs: 2_000,
  retryMs: 3_000,
  senderTimeoutMs: 60_000,
  lagTimeMs: 5_000,
  askEveryMs: 150,
  faultsMs: 50_000,
  recoveryMs: 25_000,
  confirmMs: 18_000,
  slackMs: 200,
};

/** The runs there are: with every span scaled down, by half only, and at rolecall's default configuration. */
export const profiles: Readonly<Record<Profile["name"], Profile>> = { scaled, half, default: standard };

/** The times of the modelled cluster manager by its ttl in seconds. The first is that of the profile `default`. */
const timings = {
  12: { ttlMs: standard.ttlMs, loopMs: standard.loopMs, retryMs: standard.retryMs },
  20: { ttlMs: 20_000, loopMs: 5_000, retryMs: 5_000 },
  30: { ttlMs: 30_000, loopMs: 10_000, retryMs: 10_000 },
  60: { ttlMs: 60_000, loopMs: 10_000, retryMs: 20_000 },
} as const satisfies Readonly<Record<number, Pick<Profile, "ttlMs" | "loopMs" | "retryMs">>>;

/** A ttl in seconds that a modelled cluster can have. */
export type Ttl = keyof typeof timings;

export const ttls = Object.keys(timings).map(Number) as readonly Ttl[];

/** The profile `default` with another ttl of the cluster, and a loop_wait and retry_timeout that fit it. */
export function withTtl(ttl: Ttl): Profile {
  return { ...standard, ...timings[ttl] };
}

/** Reads a list such as `20,30`; `null`: all there are. */
export function ttlsOf(names: string | null): readonly Ttl[] {
  const wanted = names?.split(",").map(Number) ?? ttls;
  const found = ttls.filter((ttl) => wanted.includes(ttl));
  if (found.length !== wanted.length)
    throw new Error(`Cannot run: --ttl must be some of ${ttls.join()}, got ${names ?? ""}`);
  return found;
}

/** rolecall's configuration for a profile: YAML, without clusters and listeners. */
export function configurationOf(profile: Profile, workers: number): string {
  const { intervalMs, timeoutMs, connectMs, maxAgeMs, clusterMs, attachMs, demotedMs, fall } = profile;
  return [
    "probe:",
    `  interval: ${intervalMs}ms`,
    `  timeout: ${timeoutMs}ms`,
    `  connect_timeout: ${connectMs}ms`,
    `  max_age: ${maxAgeMs}ms`,
    `  cluster_interval: ${clusterMs}ms`,
    `  config_interval: ${clusterMs * 5}ms`,
    `  fall: ${fall}`,
    "guards:",
    `  attach_window: ${attachMs}ms`,
    `  demoted_for: ${demotedMs}ms`,
    `workers: ${workers}`,
    "drain: 0s",
    "",
  ].join("\n");
}
