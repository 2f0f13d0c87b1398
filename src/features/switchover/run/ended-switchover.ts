import type { SwitchoverStart } from "../machine/plan.ts";

/** A seamless switchover that is over. */
export interface EndedSwitchover {
  readonly cluster: string;
  readonly run: string;
  readonly start: SwitchoverStart;
  /** `unfinished`: poolers may be paused, or were not seen to lead to the new primary. */
  readonly outcome:
    | "dry_run"
    | "refused"
    | "aborted"
    | "rejected"
    | "switched"
    | "restarted"
    | "stayed"
    | "unknown"
    | "no_primary"
    | "unfinished";
  /** The outcome as a sentence. */
  readonly text: string;
  readonly leader: string;
  /** The new primary; `null` if there is none. */
  readonly node: string | null;
  /** The longest time for which clients of a pooler were held, in ms; `null` if none were, or if that is not known. */
  readonly heldMs: number | null;
  /** What was expected of it, in ms; `null` if that could not be said. */
  readonly forecastMs: number | null;
  /** How long each step took, in ms, by its name. */
  readonly steps: Readonly<Record<string, number>>;
  /** The most clients that were seen to wait after a loss; `null` if that is not known. */
  readonly clients: number | null;
  /** Who asked for it, as authentication found. */
  readonly by: string | null;
}
