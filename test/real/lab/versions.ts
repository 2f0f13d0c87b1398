/** The versions of Patroni to test against, and why one of them is not available here. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { postgresBin } from "./patroni.ts";
import { pythonPrograms } from "./python-packages.ts";

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

/** The newest Patroni 4.1 from the Python package index. User postgres has to read it. */
export function patroni4(): Found {
  const found = pythonPrograms("patroni-4.1", ["patroni[etcd3]==4.1.*", "psycopg2-binary"]);
  return "notRun" in found ? found : { command: [join(found.bin, "python3"), "-m", "patroni"] };
}
