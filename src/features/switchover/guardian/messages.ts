import type { Config } from "../../../core/config/model/config.ts";
import type { FinishIntent, PauseIntent } from "../intent/pause-intent.ts";
import type { SwitchoverPlan } from "../machine/plan.ts";

/** The run that a guardian finishes if the main process does not. */
export interface GuardedRun {
  readonly intent: PauseIntent & { readonly finish: FinishIntent };
  readonly plan: SwitchoverPlan;
  /** What is needed of the configuration: this cluster, its poolers and balancers, and the peers. */
  readonly config: Config;
  /** The file of the intents. */
  readonly intentsPath: string | null;
  /** How long a route is waited for that cannot be read, in ms. */
  readonly routeWaitMs: number;
}

/** A message to the guardian. */
export type ToGuardian =
  /** Opens a console to each target, and begins to ask the nodes. */
  | ({ readonly kind: "guard"; readonly leftMs: number } & GuardedRun)
  /**
   * The main process lives. Positions of the targets that may be paused, how long they may stay so, in ms, and those of them
   * that were not paused yet.
   */
  | {
      readonly kind: "beat";
      readonly open: readonly number[];
      readonly leftMs: number;
      readonly watched: readonly number[];
    }
  /** The switchover is requested next. `leftMs`: how long all may stay paused from now on, in ms. */
  | { readonly kind: "request"; readonly leftMs: number }
  /** Nothing is paused any more. */
  | { readonly kind: "end" };

/** A message from the guardian. */
export type FromGuardian =
  | { readonly kind: "ready" }
  /** It knows that the switchover is requested next. */
  | { readonly kind: "told" }
  | { readonly kind: "problem"; readonly problem: string }
  | { readonly kind: "taken_over"; readonly why: string };
