import type { ProbedClusters } from "../../app/probe-once.ts";
import type { Config } from "../../config/model/config.ts";
import type { CommandContext } from "../../command/framework/command-context.ts";

/** The input of every check of `rolecall doctor`. */
export interface DoctorContext {
  readonly command: CommandContext;
  readonly config: Config;
  readonly probed: ProbedClusters;
}
