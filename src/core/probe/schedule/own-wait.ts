/** How long the answers of nodes wait for this process. */
export interface OwnWait {
  /** In ms. Default: they never wait. */
  readonly answersWaitMs?: (() => number) | undefined;
}

/**
 * While the answers of nodes wait longer, in ms, such probes are not sent: more would make it worse. `urgent`: what finds a
 * primary, or why a node fails. `other`: all else that is not due by its interval.
 */
const waitMaxMs = { urgent: 250, other: 50 } as const;

/** Whether a probe outside the intervals has to be put off, because this process is late. */
export function isPutOff({ answersWaitMs }: OwnWait, probe: keyof typeof waitMaxMs): boolean {
  return (answersWaitMs?.() ?? 0) > waitMaxMs[probe];
}
