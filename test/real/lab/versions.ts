/** The versions of Patroni to test against, and why one of them is not available here. */
import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresBin } from "./patroni.ts";

/** A command that starts a Patroni, or why there is none. */
export type Found = { readonly command: readonly [string, ...string[]] } | { readonly notRun: string };

/** The programs that every run needs beside Patroni; the first missing one is the reason for `notRun`. */
export function missingProgram(): string | undefined {
  const paths = ["/usr/bin/etcd", `${postgresBin}/postgres`, "/usr/bin/psql", "/usr/sbin/haproxy", "/usr/bin/openssl"];
  return paths.find((path) => !existsSync(path));
}

/** The distribution's Patroni 3.0.2 (Debian 12, package `patroni`). */
export function patroni3(): Found {
  const command = "/usr/bin/patroni";
  if (!existsSync(command)) return { notRun: "package patroni is not installed" };
  const version = execFileSync(command, ["--version"], { encoding: "utf8" }).trim();
  return version === "patroni 3.0.2" ? { command: [command] } : { notRun: `package patroni is ${version}, not 3.0.2` };
}

/**
 * The newest Patroni 4.1 from the Python package index, in a virtual environment that later runs find again under the
 * temporary folder. The system's own python3, as user postgres has to read it. Takes some ten seconds the first time,
 * at most 4 minutes.
 */
export function patroni4(): Found {
  const folder = join(tmpdir(), `rolecall-patroni-4.1-${process.getuid?.() ?? 0}`);
  const complete = join(folder, "complete");
  const python = join(folder, "bin", "python3");
  if (!isOurs(folder)) return { notRun: `${folder} belongs to someone else` };
  if (existsSync(complete)) return { command: [python, "-m", "patroni"] };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o755 });
  for (const [what, command, ...args] of [
    ["no virtual environment (package python3-venv)", "/usr/bin/python3", "-m", "venv", folder],
    ["pip cannot install it", python, "-m", "pip", "install", "--quiet", "patroni[etcd3]==4.1.*", "psycopg2-binary"],
  ] as const) {
    try {
      execFileSync(command, args, { stdio: "ignore", timeout: 120_000 });
    } catch {
      return { notRun: what };
    }
  }
  writeFileSync(complete, "");
  return { command: [python, "-m", "patroni"] };
}

/** A program in a folder that everyone may write is run only if this test put it there. */
function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found === undefined || (found.isDirectory() && found.uid === process.getuid?.());
}
