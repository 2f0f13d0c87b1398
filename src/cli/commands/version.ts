import { version } from "../../core/config/version.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";

/** `rolecall version`: prints the version of the program. */
export async function printVersion({ print, result }: CommandContext): Promise<void> {
  const current = version();
  result.data = { rolecall: current, node: process.version };
  print(`rolecall ${current}\n`);
}
