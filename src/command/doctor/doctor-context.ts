import type { KnownClusters } from "../client/remembered-members.ts";
import type { ProbedClusters } from "../client/probed-clusters.ts";
import type { Config } from "../../config/model/config.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** The input of every check of `rolecall doctor`. */
export interface DoctorContext {
  readonly command: CommandContext;
  readonly config: Config;
  readonly probed: ProbedClusters;
}

/** A check of `rolecall doctor` that a feature brings. It has a row only where it applies. */
export interface UnlistedCheck {
  readonly load: () => Promise<(context: DoctorContext) => Promise<void>>;
}

/** The same, which always has a row. */
export interface DoctorCheck extends UnlistedCheck {
  /** The name of its row, as in the description of the command. */
  readonly id: string;
}

/** A check that a feature brings, which asks the running rolecall. */
export interface ServerCheck {
  readonly load: () => Promise<(context: DoctorContext, known: KnownClusters) => Promise<void>>;
}
