/** The answer to another rolecall about the pauses that it announced. */
export type PauseAnswer =
  /** All databases were reached: it may pause them. */
  | { readonly kind: "acknowledged" }
  /** It is still the one that resumes them. */
  | { readonly kind: "held" }
  /** This rolecall resumes them now. */
  | { readonly kind: "taken_over"; readonly by: string }
  /** Nothing is paused any more, so nothing is watched. */
  | { readonly kind: "ended" }
  | { readonly kind: "unknown_run" }
  | { readonly kind: "unreadable"; readonly problem: string }
  /** The configuration does not allow it. */
  | { readonly kind: "refused"; readonly problem: string }
  /** Not now: a console was not reached, or too much is watched. */
  | { readonly kind: "unreached"; readonly problem: string };

/** Why this rolecall resumes what another one has paused. */
export type TakeoverCause = "silence" | "deadline";

/** What became of the pauses of another rolecall. */
export interface KeptPauses {
  readonly kind: "taken_over" | "lifted";
  readonly cause: TakeoverCause;
  readonly run: string;
  readonly cluster: string;
  /** Who announced them. */
  readonly from: string;
  /** What may have been paused when this rolecall took over, each as `pooler/database`. */
  readonly databases: readonly string[];
}
