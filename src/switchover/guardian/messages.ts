import type { IntendedPause } from "../intent/pause-intent.ts";

/** A message to the guardian. */
export type ToGuardian =
  /** Opens a console to each target. */
  | {
      readonly kind: "guard";
      readonly run: string;
      readonly targets: readonly IntendedPause[];
      readonly leftMs: number;
    }
  /** The main process lives. Positions of the targets that may be paused, and how long they may stay so, in ms. */
  | { readonly kind: "beat"; readonly open: readonly number[]; readonly leftMs: number }
  /** Nothing is paused any more. */
  | { readonly kind: "end" };

/** A message from the guardian. */
export type FromGuardian =
  | { readonly kind: "ready" }
  | { readonly kind: "problem"; readonly problem: string }
  | { readonly kind: "taken_over"; readonly why: string };
