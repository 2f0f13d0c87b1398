import { version } from "../version.ts";
import type { Session } from "./session.ts";

/** `rolecall version`. */
export async function printVersion({ print, result }: Session): Promise<void> {
  const known = version();
  result.data = { rolecall: known, node: process.version };
  print(`rolecall ${known}\n`);
}
