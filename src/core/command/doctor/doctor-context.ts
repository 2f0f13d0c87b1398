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

/** The row of a check in the result. */
interface CheckRow {
  readonly id: string;
  /** Whether the description of the command has the row; else it is there only where the check found its subject. */
  readonly isListed: boolean;
}

/** A check of `rolecall doctor` that a feature brings. */
export interface DoctorCheck extends CheckRow {
  readonly load: () => Promise<(context: DoctorContext) => Promise<void>>;
}

/** A check that takes place once the members are known, and may ask the running rolecall. */
export interface ServerCheck extends CheckRow {
  readonly load: () => Promise<(context: DoctorContext, known: KnownClusters) => Promise<void> | void>;
}
