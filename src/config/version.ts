import { existsSync, readFileSync } from "node:fs";

/** Returns the version in package.json, which is beside `dist`, or one folder further up when tests are compiled. */
export function version(): string {
  const file = ["../../package.json", "../../../package.json"]
    .map((path) => new URL(path, import.meta.url))
    .find((url) => existsSync(url));
  const value: unknown = file === undefined ? null : JSON.parse(readFileSync(file, "utf8"));
  return typeof value === "object" && value !== null && "version" in value ? String(value.version) : "unknown";
}
