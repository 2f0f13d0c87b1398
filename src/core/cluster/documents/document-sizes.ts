/** The longest documents of nodes that are read, in bytes (rule 8). */
export const documentMax = {
  /** A status document: it has some thousand. */
  report: 256 * 1024,
  /** Any other: a history has some thousand timelines at most. */
  other: 1024 * 1024,
} as const;
