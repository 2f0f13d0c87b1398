/** `rolecall switchover --seamless` as an operator types it: what it says at its end, and its exit code. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { program } from "../../../test/real/lab/rolecall.ts";
import type { Lab } from "../lab.ts";
import { deadlineMs } from "./fault-list.ts";

export interface CommandEnd {
  /** `null`: it had to be ended. */
  readonly exitCode: number | null;
  /** What was printed last: how it came out, and the findings. */
  readonly text: string;
}

/** Longer than any run may take, with the second in which a dead server is found to be dead, in ms. */
const hangsMs = 150_000;
/** How much of the output counts, in characters. */
const textMax = 600;

/**
 * Starts the command.
 * @returns its end; never rejects
 */
export function startCommand(
  lab: Lab,
  { candidate, unguarded }: { readonly candidate: string; readonly unguarded: boolean },
): Promise<CommandEnd> {
  const tokenFile = join(lab.cluster.folder, "operator-token");
  writeFileSync(tokenFile, `${lab.api.token}\n`, { mode: 0o600 });
  const argv = ["switchover", "demo", "--to", candidate, "--seamless", "--yes", "--deadline", `${deadlineMs}ms`];
  const where = ["--server", `http://127.0.0.1:${lab.api.port}`, "--token-file", tokenFile];
  const more = unguarded ? ["--unguarded"] : [];
  const child = spawn(process.execPath, [program, ...argv, ...where, ...more], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: lab.cluster.folder },
    timeout: hangsMs,
    killSignal: "SIGKILL",
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (text = `${text}${chunk}`.slice(-20 * textMax)));
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ exitCode: null, text: error.message }));
    child.on("close", (exitCode) => resolve({ exitCode, text: endOf(text) }));
  });
}

/** From the outcome on: the steps before it say nothing of it. */
function endOf(output: string): string {
  const lines = output.split("\n").map((line) => line.trim());
  const steps = lines.findLastIndex((line) => /^\d+(\.\d+)? s /.test(line));
  return lines
    .slice(steps + 1)
    .filter((line) => line !== "")
    .join(" ")
    .slice(0, textMax);
}
