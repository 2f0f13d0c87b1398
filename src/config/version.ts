import { existsSync, readFileSync } from "node:fs";

/** The version of this program, as its package.json has it: beside `dist`, or a folder further up where the tests are compiled to. */
export function version(): string {
  const file = ["../../package.json", "../../../package.json"]
    .map((path) => new URL(path, import.meta.url))
    .find((url) => existsSync(url));
  const value: unknown = file === undefined ? null : JSON.parse(readFileSync(file, "utf8"));
  return typeof value === "object" && value !== null && "version" in value ? String(value.version) : "unknown";
}
