import { chmodSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { parseDocument } from "yaml";

/**
 * Sets `current` in a contexts file and keeps the rest of it, comments included. The file is replaced as a whole, with
 * the permissions that it had; a symbolic link stays one.
 * @throws Error if the file cannot be written
 */
export function writeCurrent(file: string, name: string): void {
  const target = realpathSync(file);
  const document = parseDocument(readFileSync(target, "utf8"));
  document.set("current", name);
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, document.toString({ lineWidth: 0 }), { mode: 0o600 });
    chmodSync(temporary, statSync(target).mode & 0o777);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
