import { readFileSync } from "node:fs";
import { isObject } from "../cluster/json.ts";
import type { Session } from "./session.ts";

/** The version that package.json states: it lies above the folder of the compiled files. */
export function version(): string {
  for (const above of ["../..", "../../.."]) {
    try {
      const value: unknown = JSON.parse(readFileSync(new URL(`${above}/package.json`, import.meta.url), "utf8"));
      if (isObject(value) && value["name"] === "rolecall" && typeof value["version"] === "string") return value["version"];
    } catch {
      // Compiled tests lie one folder deeper.
    }
  }
  return "unknown";
}

/** `rolecall version`. */
export async function printVersion({ print, result }: Session): Promise<void> {
  const known = version();
  result.data = { rolecall: known, node: process.version };
  print(`rolecall ${known}\n`);
}
