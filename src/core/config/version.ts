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

/** Returns the commit of the source that was built (packaging/commit.mjs), such as `1e4e634f9b34`; `null` if nothing said it. */
export function commit(): string | null {
  const written = readProgramFile("dist/commit.txt")?.toString().trim() ?? "";
  return /^[0-9a-f]{12}(?:-changed)?$/.test(written) ? written : null;
}
