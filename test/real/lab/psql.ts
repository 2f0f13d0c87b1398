/** PostgreSQL's own client: one new connection, one statement, the answer as text. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Runs one statement over a new connection to 127.0.0.1.
 * @param port the database's port, or a balancer's
 * @param deadlineMs for connection and answer together
 * @returns the rows without decoration, columns parted by `|`; undefined where no server was reached or the statement
 * failed
 */
export async function psql(
  port: number,
  statement: string,
  deadlineMs = 5000,
  { user, database } = { user: "postgres", database: "postgres" },
): Promise<string | undefined> {
  const address = ["-h", "127.0.0.1", "-p", String(port), "-U", user, "-d", database];
  try {
    const { stdout } = await run("psql", ["-X", "-A", "-t", "-q", ...address, "-c", statement], {
      timeout: deadlineMs,
      env: { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", PGCONNECT_TIMEOUT: "2" },
    });
    return stdout.trim();
  } catch {
    return undefined;
  }
}
