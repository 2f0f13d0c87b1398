import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { parse } from "yaml";
import type { ShownConnection } from "../../../../src/core/balancing/pgbouncer/documents.ts";
import { holderLines } from "../../../../src/features/switchover/preflight/probable-holders.ts";
import { poolerOf } from "../../../fake/pooler-setup.ts";

/** A row of the table; its first lines say how a server is written. */
interface Row {
  readonly name: string;
  readonly samples?: readonly (readonly string[])[];
  readonly problem?: string;
  /** How many lines come before these. */
  readonly first?: number;
  readonly lines: readonly string[];
}

const rows: readonly Row[] = parse(readFileSync("test/spec/switchover/probable-holders.yaml", "utf8"));

const connection: ShownConnection = {
  user: "app",
  database: "orders",
  state: "active",
  address: null,
  port: null,
  pointer: "",
  link: null,
  connectTime: null,
  requestTime: null,
  applicationName: null,
  id: null,
  remotePid: null,
  isCloseNeeded: null,
};
const clients: readonly ShownConnection[] = [
  { ...connection, pointer: "c1", address: "10.0.0.7", port: 4711, applicationName: "etl", remotePid: 0 },
  { ...connection, pointer: "c2", address: "unix", port: 6432, remotePid: 77 },
  { ...connection, pointer: "c3", address: "unix(0@0)", port: 6432, remotePid: 0 },
];

function serverOf(text: string): ShownConnection {
  const [pointer = "", state = "", link = "", requestTime = "", database = "orders"] = text.split(" ");
  return { ...connection, pointer, state, link: link === "-" ? null : link, requestTime, database };
}

suite("transactions that may hold a PAUSE", () => {
  for (const { name, samples = [], problem, first = 0, lines } of rows)
    test(name, () => {
      const servers = samples.map((sample) => sample.map(serverOf));
      const read = problem === undefined ? { servers, clients, spanMs: 1_003 } : new Error(problem);
      const found = holderLines(poolerOf("pgb1", "10.0.0.9:6432"), ["orders", "reports"], read);
      assert.deepEqual(
        found.slice(first).map(({ level, subject, text }) => `${level} ${subject}: ${text}`),
        lines,
      );
    });
});
