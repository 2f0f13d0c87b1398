import { readFileSync } from "node:fs";
import type { Session } from "./session.ts";

/** The version that package.json states. */
export function version(): string {
  const value: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return typeof value === "object" && value !== null && "version" in value ? String(value.version) : "unknown";
}

/** `rolecall version`. */
export async function printVersion({ print, result }: Session): Promise<void> {
  const known = version();
  result.data = { rolecall: known, node: process.version };
  print(`rolecall ${known}\n`);
}
