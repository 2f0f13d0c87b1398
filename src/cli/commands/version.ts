import { version } from "../../config/version.ts";
import type { CommandContext } from "../framework/command-context.ts";

/** `rolecall version`. */
export async function printVersion({ print, result }: CommandContext): Promise<void> {
  const known = version();
  result.data = { rolecall: known, node: process.version };
  print(`rolecall ${known}\n`);
}
