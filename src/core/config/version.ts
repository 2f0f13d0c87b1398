import { readProgramFile } from "../program/program-files.ts";

let known: string | null = null;

/** Returns the version in package.json. It is read once: an upgrade on disk does not change what runs. */
export function version(): string {
  return (known ??= readVersion());
}

function readVersion(): string {
  const file = readProgramFile("package.json");
  const value: unknown = file === null ? null : JSON.parse(file.toString());
  return typeof value === "object" && value !== null && "version" in value ? String(value.version) : "unknown";
}
