import type { KnownCheck } from "../result/builder.ts";
import type { RuleId } from "../result/rule-ids.ts";
import type { CommandContext } from "./command-context.ts";
import type { CommandDescription } from "./command-description.ts";

/** Runs a command. Findings go into the context's result, and the exit code follows from them. */
export type RunCommand = (context: CommandContext) => Promise<void>;

/** One command: its description, its checks and its implementation, which is loaded on use. */
export interface CommandSpec extends CommandDescription {
  /** Every check that the command can cover. */
  readonly checks: readonly KnownCheck[];
  /** Its name in the result document. Default: the name. */
  readonly documentName?: string;
  /** Where findings go in text format. Default: stdout. Set where stdout is a file for another program. */
  readonly findingsTo?: "stderr";
  /** Findings that the command's own text already shows. Text lists them again only if a policy is given. */
  readonly ownFindings?: readonly RuleId[];
  /** The command runs until it receives a signal, and handles signals itself. */
  readonly isService?: boolean;
  /** `null`: the command does nothing without one of its verbs. */
  readonly load: (() => Promise<RunCommand>) | null;
  readonly verbs?: readonly CommandSpec[];
  readonly forms?: readonly CommandSpec[];
}
