import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ending } from "./ending.ts";

/** Writes a configuration file in a folder that is deleted when the test ends. */
export function writeConfigFile(context: Ending, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-serve-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rolecall.yaml");
  writeFileSync(file, text);
  return file;
}
