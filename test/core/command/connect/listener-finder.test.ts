import assert from "node:assert/strict";
import { test } from "node:test";
import {
  findListener,
  type AskListener,
  type ListenerKind,
} from "../../../../src/core/command/connect/listener-finder.ts";

/** Answers `/livez` by origin; other origins do not answer. */
function answering(documents: Readonly<Record<string, unknown>>): AskListener {
  return async ({ origin }) =>
    origin in documents ? { status: 200, phrase: "OK", headers: {}, text: JSON.stringify(documents[origin]) } : null;
}

const admin = { dialect: "admin", port: 9108, tls: false };
const rows: readonly (readonly [title: string, start: string, kind: ListenerKind, documents: object, found: object])[] =
  [
    [
      "follows the port of an admin listener",
      "http://a:8008",
      "admin",
      { "http://a:8008": { listener: "node", listeners: [admin] } },
      { kind: "found", url: "http://a:9108" },
    ],
    [
      "goes from http to https",
      "http://a:8008",
      "admin",
      { "http://a:8008": { listener: "node", listeners: [{ ...admin, tls: true }] } },
      { kind: "found", url: "https://a:9108" },
    ],
    [
      "never goes from https to http",
      "https://a:8008",
      "admin",
      { "https://a:8008": { listener: "node", listeners: [admin] } },
      { kind: "no_tls", url: "http://a:9108" },
    ],
    [
      "finds a listener for management by way of the admin listener",
      "http://a:8008",
      "management",
      {
        "http://a:8008": { listener: "node", listeners: [admin] },
        "http://a:9108": {
          listener: "admin",
          listeners: [
            { dialect: "node", port: 8008 },
            { dialect: "node", port: 8009, management: true },
          ],
        },
      },
      { kind: "found", url: "http://a:8009" },
    ],
    [
      "leaves a server alone that does not describe itself",
      "http://a:8008",
      "admin",
      { "http://a:8008": { status: "ok" } },
      { kind: "here" },
    ],
    ["leaves a server alone that does not answer", "http://a:8008", "admin", {}, { kind: "here" }],
    [
      "ignores ports that are none",
      "http://a:8008",
      "admin",
      {
        "http://a:8008": {
          listener: "node",
          listeners: [{ ...admin, port: 70_000 }, { ...admin, port: "9108" }, null],
        },
      },
      { kind: "missing", dialect: "node" },
    ],
  ];
for (const [title, start, kind, documents, expected] of rows) {
  test(title, async () => {
    const found = await findListener(new URL(start), kind, answering(documents as Record<string, unknown>));
    assert.deepEqual("url" in found ? { ...found, url: found.url.origin } : found, expected);
  });
}
