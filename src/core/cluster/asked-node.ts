/** Checks with longer pauses between them, in ms, are not regular: no balancer checks so seldom. */
export const askPauseMs = 60_000;

/** Whether checks ask again and again: until now, and for at least `leastMs`. Both figures in ms. */
export function isRegular(
  { agoMs, forMs }: { readonly agoMs: number; readonly forMs: number },
  leastMs: number,
): boolean {
  return agoMs <= askPauseMs && forMs >= leastMs;
}

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
