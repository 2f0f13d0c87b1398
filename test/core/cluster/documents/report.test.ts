import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { majorVersion, parseReport, shownDocument } from "../../../../src/core/cluster/documents/report.ts";
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

  const inForm = '{"state": "running", "role": "replica", "a": {"b": [1, "two: 3,4"]}}';
  for (const { what, written, form = inForm } of [
    { what: "in the form of nodes", written: inForm },
    { what: "with blanks around it", written: ` \t\r\n${inForm}\n` },
    { what: "without blanks", written: '{"state":"running","role":"replica","a":{"b":[1,"two: 3,4"]}}' },
    {
      what: "that states a member twice",
      written: '{"state": "running", "role": "primary", "role": "replica", "a": {"b": [1, "two: 3,4"]}}',
    },
    {
      what: "with an escape",
      written: '{"state": "running", "role": "replica", "a": "\\u00e9\\/"}',
      form: '{"state": "running", "role": "replica", "a": "\u00e9/"}',
    },
    {
      what: "with other numbers",
      written: '{"state": "running", "role": "replica", "a": [1.0, 1e3, -0]}',
      form: '{"state": "running", "role": "replica", "a": [1, 1000, 0]}',
    },
  ])
    test(`keeps a document ${what}, and shows it in the form of nodes`, () => {
      const report = parseReport(JSON.parse(written), written) ?? assert.fail("it must be a report");
      assert.deepEqual(JSON.parse(report.document), JSON.parse(written));
      assert.match(report.document, /^\{.*\}$/, "a member can be added at the end");
      assert.equal(shownDocument(report), form);
      assert.equal(shownDocument(report), form, "once more");
    });

  test("shows a text that is no document as it is", () => {
    assert.equal(shownDocument({ ...reportOf("pg1"), document: "{" }), "{");
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
    for (const [open, close] of [
      ["[", "]"],
      ['{"x":', "}"],
    ] as const) {
      const written = `{"state":"running","role":"replica","x":${open.repeat(200_000)}1${close.repeat(200_000)}}`;
      assert.equal(parseReport(JSON.parse(written)), undefined);
      assert.equal(parseReport(JSON.parse(written), written), undefined);
    }
  });

  test("keeps a document of many brackets that is not deep", () => {
    const written = `{"state": "running", "role": "replica", "x": [${"[], ".repeat(5_000)}[]]}`;
    assert.equal(parseReport(JSON.parse(written), written)?.document, written);
  });

  test("majorVersion is null for a version without a leading number", () => {
    const majors = ["4.1.4", "3.0.2", "x", null].map((version) =>
      majorVersion(reportOf("pg1", { patroni: { version } })),
    );
    assert.deepEqual(majors, [4, 3, null, null]);
  });
});
