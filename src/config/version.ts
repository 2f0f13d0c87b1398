import { readProgramFile } from "../program/program-files.ts";

/** Returns the version in package.json. */
export function version(): string {
  const file = readProgramFile("package.json");
  const value: unknown = file === null ? null : JSON.parse(file.toString());
  return typeof value === "object" && value !== null && "version" in value ? String(value.version) : "unknown";
}
