/** Runs a program that asks, to its end. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Started } from "./started.ts";

/** How much longer than its storm a program may take to begin and end, in ms. */
const patienceMs = 30_000;

/**
 * What a program that asks for some seconds wrote on stdout.
 * @throws Error when it ends with another code than 0, or not in time
 */
export async function outputOf(command: readonly string[], seconds: number): Promise<string> {
  const started = await Started.start({ command, core: "load" });
  const timer = setTimeout(() => void started.stop(), seconds * 1_000 + patienceMs);
  const { said, code, complaint } = await started.end();
  clearTimeout(timer);
  if (code !== 0)
    throw new Error(
      `Cannot measure with ${command.slice(0, 2).join(" ")} as it must end with 0: it ended with ${code}\n${complaint}`,
    );
  return said;
}

/** Gives a file of this text, in a folder of its own, to some work. */
export async function withFile<T>(text: string, work: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
  const file = join(folder, "file");
  writeFileSync(file, text);
  try {
    return await work(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
