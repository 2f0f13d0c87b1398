import { readFileSync } from "node:fs";

/** The version of this program, as its package.json has it. */
export function version(): string {
  const value: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return typeof value === "object" && value !== null && "version" in value ? String(value.version) : "unknown";
}
