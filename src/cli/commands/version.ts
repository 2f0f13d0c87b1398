import { commit, version } from "../../core/config/version.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";

/** `rolecall version`: prints the version of the program, and the commit that it was built from. */
export async function printVersion({ print, result }: CommandContext): Promise<void> {
  const [current, source] = [version(), commit()];
  result.data = { rolecall: current, commit: source, node: process.version };
  print(`rolecall ${current} (commit ${source ?? "unknown"})\n`);
}
