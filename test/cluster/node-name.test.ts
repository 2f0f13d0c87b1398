import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeNameOf, parseClusterDocument } from "../../src/cluster/documents/cluster-document.ts";

test("names that turn the direction of text, do not show, or hold controls are no node's", () => {
  const refused = [
    "",
    "a/b",
    "pg1\u0000",
    "pg1\n",
    "pg\u001b[31m1",
    "pg1\u007f",
    "pg1\u0085",
    "pg1\u2028",
    "pg1\u2029",
    "x".repeat(129),
  ];
  const bidirectional = [
    "\u061c",
    "\u200e",
    "\u200f",
    "\u202a",
    "\u202b",
    "\u202c",
    "\u202d",
    "\u202e",
    "\u2066",
    "\u2067",
    "\u2068",
    "\u2069",
  ];
  const invisible = ["\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff", "\ud800", "\udc00"];
  for (const name of [
    ...refused,
    ...bidirectional.map((mark) => `pg1${mark}2`),
    ...invisible.map((mark) => `${mark}pg1`),
  ]) {
    assert.equal(nodeNameOf(name), null, JSON.stringify(name));
    const members = [
      { name, api_url: "http://pg1:8008" },
      { name: "pg2", api_url: "http://pg2:8008" },
    ];
    assert.deepEqual(
      parseClusterDocument({ members })?.members.map((member) => member.name),
      ["pg2"],
    );
  }
  for (const name of ["pg1", "Pg-1.example_x", "pg 1", "ü", "データ", "x".repeat(128), "pg\u{1f418}"])
    assert.equal(nodeNameOf(name), name);
});
