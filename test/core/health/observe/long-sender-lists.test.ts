import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { keptSenders } from "../../../../src/core/health/evidence/node/sender-rows.ts";
import { parseExporterPage } from "../../../../src/core/cluster/exporter/exporter-page.ts";
import type { Sample } from "../../../../src/core/cluster/exporter/sample.ts";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

/** Rows of programs that receive WAL and are no members. */
function strangers(count: number): readonly { application_name: string; client_addr: string; state: string }[] {
  return Array.from({ length: count }, (_, at) => row(`barman${at}`, "10.0.9.9"));
}

function row(name: string, address: string) {
  return { application_name: name, client_addr: address, state: "streaming" };
}

describe("a sender list that is longer than any server's", () => {
  for (const [title, before, after, kept] of [
    ["as long as is kept", 254, 0, 256],
    ["members at its end", 400, 0, 256],
    ["members in its midst", 300, 300, 256],
    ["members past what is read", 1_024, 0, 256],
  ] as const)
    test(`keeps the rows of members: ${title}`, () => {
      const watched = new ClusterFixture();
      const replication = [...strangers(before), row("pg2", "10.0.0.2"), row("pg3", "10.0.0.3"), ...strangers(after)];
      watched.lead("pg1", 0, { replication });
      const senders = watched.cluster.nodes[0]?.report?.senders ?? [];
      assert.equal(senders.length, kept);
      const isRead = before + 2 <= 1_024;
      for (const name of ["pg2", "pg3"])
        assert.equal(
          senders.some((sender) => sender.name === name),
          isRead,
          name,
        );
      const order = replication.map(({ application_name: name }) => name);
      const places = senders.map(({ name }) => order.indexOf(name));
      assert.deepEqual(
        places,
        places.toSorted((one, other) => one - other),
        "in the order of the list",
      );
    });

  test("keeps those of members alone, if they are more than are kept", () => {
    const nodes = Array.from({ length: 300 }, (_, at) => `pg${at}`);
    const { cluster } = new ClusterFixture({ nodes });
    const rows = [...strangers(50), ...nodes.map((name) => row(name, "10.0.0.1"))];
    const names = keptSenders(
      cluster,
      rows.map(({ application_name: name, client_addr: address }) => ({ name, address })),
    ).map(({ name }) => name);
    assert.deepEqual([names.length, names[0], names.at(-1)], [256, "pg0", "pg255"]);
  });

  for (const family of ["pg_exporter", "postgres_exporter"] as const)
    test(`keeps the rows of members on a page of ${family}, by name or by an address that is theirs alone`, () => {
      const exporter = "http://pg1:9187";
      const watched = new ClusterFixture({
        nodes: [
          { name: "pg1", api: null, exporter },
          { name: "pg2", api: null, exporter: "http://pg2:9187" },
          { name: "pg3", api: null, exporter: "http://pg3:9187", database: { host: "10.0.0.3", port: 5432 } },
        ],
      });
      const rows = [...strangers(500), row("pg2", "10.0.0.2"), row("walreceiver", "10.0.0.3")];
      const page = parseExporterPage([
        sample("pg_up", {}, 1),
        sample(family === "pg_exporter" ? "pg_in_recovery" : "pg_replication_is_replica", {}, 0),
        ...rows.map(({ application_name: name, client_addr: address }) =>
          family === "pg_exporter"
            ? sample("pg_repl_state", { appname: name, address, pid: name }, 0)
            : sample(
                "pg_stat_replication_pg_wal_lsn_diff",
                { application_name: name, client_addr: address, state: "streaming" },
                0,
              ),
        ),
      ]);
      assert.ok(page !== undefined);
      assert.equal(page.senders.length, 502);
      watched.record(
        {
          kind: "exporter",
          cluster: "demo",
          node: "pg1",
          sentAtMs: 0,
          sentAtWallMs: 0,
          result: { endpoint: "metrics", page },
        },
        0,
      );
      const senders = watched.cluster.nodes[0]?.exporter?.page?.senders ?? [];
      assert.equal(senders.length, 256);
      assert.deepEqual(
        senders.slice(-2).map(({ name }) => name),
        ["pg2", "walreceiver"],
      );
    });
});

function sample(name: string, labels: Readonly<Record<string, string>>, value: number): Sample {
  return { name, labels: new Map(Object.entries(labels)), value };
}
