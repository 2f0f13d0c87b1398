import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { majorVersion, parseReport } from "../../../../src/core/cluster/documents/report.ts";
import { reportOf, statusDocument } from "../../../fake/node-documents.ts";

describe("parseReport", () => {
  test("accepts both vocabularies", () => {
    const { patroni, ...rest } = statusDocument("pg1");
    assert.deepEqual(
      { ...parseReport({ ...rest, ha: patroni }), document: "" },
      { ...parseReport({ ...rest, patroni }), document: "" },
    );
  });

  test("rejects a document without a role or a state", () => {
    for (const value of [
      null,
      [],
      "running",
      {},
      { state: "running" },
      { role: "replica" },
      { state: 1, role: "replica" },
    ]) {
      assert.equal(parseReport(value), undefined);
    }
  });

  test("keeps the document as complete JSON text", () => {
    const status = statusDocument("pg1", { more: { deep: [1, "two", null] } });
    assert.deepEqual(JSON.parse(parseReport(status)?.document ?? ""), JSON.parse(JSON.stringify(status)));
  });

  test("keeps senders that have a printable name", () => {
    const { senders } = reportOf("pg1", {
      replication: [
        { application_name: "pg2", client_addr: "10.0.0.2", state: "streaming" },
        {},
        7,
        { application_name: "a\nb" },
      ],
    });
    assert.deepEqual(senders, [{ name: "pg2", address: "10.0.0.2", state: "streaming" }]);
  });

  test("rejects a document nested too deeply to serialize", () => {
    const deep: unknown = JSON.parse(
      `{"state":"running","role":"replica","x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
    );
    assert.equal(parseReport(deep), undefined);
  });

  test("majorVersion is null for a version without a leading number", () => {
    const majors = ["4.1.4", "3.0.2", "x", null].map((version) =>
      majorVersion(reportOf("pg1", { patroni: { version } })),
    );
    assert.deepEqual(majors, [4, 3, null, null]);
  });
});
