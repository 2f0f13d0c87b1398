/** Checks with longer pauses between them, in ms, are not regular: no balancer checks so seldom. */
export const askPauseMs = 60_000;

/** A name that checks of a cluster ask for. */
export interface AskedNode {
  readonly cluster: string;
  /** Known or not. `null`: the whole cluster was asked for, or names are missing. */
  readonly node: string | null;
  /** How long ago the last check was, in ms. */
  readonly agoMs: number;
  /** For how long checks have named it, without a pause until now, in ms. */
  readonly forMs: number;
}
