import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runJson } from "../../fake/command-line.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

/** The page of postgres_exporter of a primary that streams to a name, or of a replica. */
function pageOf(standby: string | null): string {
  const rows = ["pg_up 1", `pg_replication_is_replica ${standby === null ? 1 : 0}`];
  const labels = `application_name="${standby}",client_addr="10.0.0.9",state="streaming"`;
  if (standby !== null)
    rows.push("pg_stat_replication_pg_current_wal_lsn_bytes 5000", `pg_stat_replication_pg_wal_lsn_diff{${labels}} 0`);
  return `${rows.join("\n")}\n`;
}

async function openExporter(context: TestContext, page: string): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(request.url === "/metrics" ? 200 : 404, { "content-type": "text/plain" });
    response.end(request.url === "/metrics" ? page : "");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

for (const [name, messages] of [
  ["walreceiver", ["demo/pg2 is in no sender list; the names there: walreceiver (10.0.0.9)"]],
  ["pg2", []],
] as const)
  test(`RC176: ${messages.length === 0 ? "nothing of a replica that is named" : "the names in place of a replica's"}`, async (context) => {
    const file = join(temporaryFolder("sender-lists"), "rolecall.yaml");
    const exporters = [await openExporter(context, pageOf(name)), await openExporter(context, pageOf(null))];
    const nodes = exporters.map((exporter, at) => ({ name: `pg${at + 1}`, exporter }));
    writeFileSync(file, JSON.stringify({ clusters: [{ name: "demo", nodes }], listen: [{ port: 0 }] }));
    const { diagnostics, coverage } = await runJson(["doctor", "--config", file, "--haproxy", "/no/such/haproxy"]);
    const found = diagnostics.filter(({ rule_id: rule }) => rule === "RC176");
    assert.deepEqual(
      found.map(({ message }) => message),
      messages,
    );
    assert.equal(coverage.find(({ id }) => id === "sender lists")?.detail, "demo");
  });
