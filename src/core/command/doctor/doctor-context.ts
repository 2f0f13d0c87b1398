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

/** A check of `rolecall doctor` that a feature brings. It has a row in the result only where it applies. */
export interface UnlistedCheck {
  readonly load: () => Promise<(context: DoctorContext) => Promise<void>>;
}

/** The same with a row in the description of the command, too. */
export interface DoctorCheck extends UnlistedCheck {
  /** The name of its row. */
  readonly id: string;
}

/** A check that takes place once the members are known, and may ask the running rolecall. */
export interface ServerCheck {
  /** The name of its row. */
  readonly id: string;
  /** Whether the description of the command has the row; else it is there only where the check found its subject. */
  readonly isListed: boolean;
  readonly load: () => Promise<(context: DoctorContext, known: KnownClusters) => Promise<void> | void>;
}
