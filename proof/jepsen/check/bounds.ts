/** The bounds that a history is held to, in ms, each with its source. Rules: docs/judgement.md. */

/** Rule 1, `max_age`: a yes may rest on a report that was requested this long ago. */
const maxAgeMs = 5_500;

/** The rendered write pool: `inter 200ms fall 1`, and a check that is not answered ends after `timeout check 2s`. */
const writeCheckMs = 200 + 2_000;

/** The rendered read pool: `inter 500ms fall 2`, with the same time limit. */
const readCheckMs = 2 * (500 + 2_000);

/** Rule 1: a view of who leads counts for so long, three cluster intervals of 3 s and a timeout of 2.5 s. */
const viewMaxAgeMs = 11_500;

/** `lag_time=10s`, as the rendered read pool has it. */
const lagTimeMs = 10_000;

export const bounds = {
  /** A new connection reaches the old holder of the lock at most this long after the DCS gave the lock to another. */
  writeMs: maxAgeMs + writeCheckMs,
  /** A read on a new connection sees every write that survived and was acknowledged this long before it. */
  readMs: lagTimeMs + maxAgeMs + readCheckMs,
  /** After the DCS gave a free lock to a node, views may name nobody for this long (rule 1). */
  viewSentAtMs: viewMaxAgeMs,
  /** A read may rest on a check of HAProxy that began this long before. */
  readCheckMs,
  /**
   * Rule 1 again: a position of `min_lsn` may be that of a report of this age. A database that restarted since then may
   * have replayed less.
   */
  restartMs: maxAgeMs,
  /**
   * A whole cluster is fit again: rule 8, at most 5 s between probes of a node that was down; rule 5, 10 s
   * `attach_window`; rule 8, 10 s of rest after a document that could not be fetched.
   */
  recoveryMs: 25_000,
  /** The pools of HAProxy follow: `downinter 3s` by 3 in the fallback, and 1.5 s until it is left. */
  servedMs: 25_000 + 10_500,
  /**
   * A stall of the machine longer than this voids a run: HAProxy's checks would end by their time limit of 2 s. A
   * shorter one is added to every bound.
   */
  voidStallMs: 2_000,
} as const;
