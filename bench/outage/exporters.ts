/** A real pg_exporter beside each node. */
import { ask } from "../../test/real/lab/ask.ts";
import { Child } from "../../test/real/lab/child.ts";
import type { Cluster } from "../../test/real/lab/cluster.ts";
import { findPgExporter, startPgExporter } from "../../test/real/lab/plain.ts";
import { ports } from "../../test/real/lab/ports.ts";
import { until } from "../../test/fake/until.ts";

/**
 * Starts an exporter for each node and waits (20 s) until it answers checks.
 * @returns the exporters; none if no program is named by PG_EXPORTER or found on PATH
 */
export async function startExporters({ nodes, folder }: Cluster): Promise<readonly Child[]> {
  const program = findPgExporter();
  if (program === undefined) return [];
  const started: Child[] = [];
  for (const [at, { name, databasePort }] of nodes.entries()) {
    const port = ports.plainExporter + at;
    const [command, ...args] = startPgExporter(program)(databasePort, port);
    const child = new Child({ name: `exporter-${name}`, command: [command, ...args], folder, asPostgres: true });
    started.push(child);
    await until({ what: `exporter of ${name}`, seconds: 20, evidence: () => child.tail }, async () =>
      [200, 404, 503].includes((await ask({ port, path: "/primary" })).status),
    );
  }
  return started;
}
