/** Runs the programs that a release needs. */
import { spawnSync } from "node:child_process";

/**
 * Runs a program to its end. Its errors are shown.
 * @param {readonly string[]} command the program and its arguments
 * @param {{ cwd: string, env?: Record<string, string>, input?: string }} options where it runs, what its environment
 *   has besides ours, and what it reads
 * @returns {string} what it wrote, without the last line break
 * @throws if it does not end with 0
 */
export function run([program, ...args], { cwd, env = {}, input = "" }) {
  const { status, signal, error, stdout } = spawnSync(program, args, {
    cwd,
    input,
    encoding: "utf8",
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status === 0) return stdout.replace(/\n$/, "");
  const line = [program, ...args].join(" ");
  throw new Error(`Cannot release: "${line}" must end with 0, got ${error?.message ?? signal ?? status}`);
}
