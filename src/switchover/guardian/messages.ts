import type { ConsoleTarget } from "../../push/pgbouncer/console.ts";

/** What the guardian is told. */
export type ToGuardian =
  /** Opens a console to each target. */
  | {
      readonly kind: "guard";
      readonly run: string;
      readonly targets: readonly GuardedTarget[];
      readonly leftMs: number;
    }
  /** The main process lives. Positions of the targets that may be paused, and how long they may stay so, in ms. */
  | { readonly kind: "beat"; readonly open: readonly number[]; readonly leftMs: number }
  /** Nothing is paused any more. */
  | { readonly kind: "end" };

/** What the guardian says. */
export type FromGuardian =
  | { readonly kind: "ready" }
  | { readonly kind: "problem"; readonly problem: string }
  | { readonly kind: "taken_over"; readonly why: string };

/** A database that may be paused, and how its console is reached. */
export interface GuardedTarget {
  readonly pooler: string;
  readonly database: string;
  readonly console: ConsoleTarget;
}
