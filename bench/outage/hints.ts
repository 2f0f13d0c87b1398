/** Has Patroni send hints to an instance of rolecall, as `rolecall render patroni` prints it. */
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cluster } from "../../test/real/lab/cluster.ts";
import { giveToPostgres } from "../../test/real/lab/child.ts";
import type { EdgeProcess } from "./edge-process.ts";

/** TODO replaced below */
export async function sendHints(cluster: Cluster, edge: EdgeProcess, tokenFile: string): Promise<void> {
  const script = join(cluster.folder, "hint.sh");
  const url = `http://127.0.0.1:${edge.adminPort}/hint?cluster=demo`;
  const token = readFileSync(tokenFile, "utf8");
  writeFileSync(
    script,
    `#!/bin/sh\ncurl -s -m 0.2 -X POST -H "Authorization: Bearer ${token}" "${url}" >/dev/null 2>&1 &\nexit 0\n`,
  );
  chmodSync(script, 0o755);
  giveToPostgres(script);
  void execFileSync;
  await cluster.configure({ postgresql: { callbacks: { on_role_change: script }, before_stop: script } });
}
