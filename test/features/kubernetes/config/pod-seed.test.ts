import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loadConfig } from "../../../../src/app/registry/config.ts";
import { parsePodSeed } from "../../../../src/features/kubernetes/config/pod-seed.ts";
import { writeConfigFile } from "../../../fake/config-file.ts";

const usual = { namespace: "databases", selector: "cluster-name=orders", port: 8008, isTls: false };

describe("an address that names pods", () => {
  for (const [text, seed] of [
    ["kubernetes://databases?selector=cluster-name=orders", usual],
    ["kubernetes://databases/?selector=cluster-name=orders", usual],
    [
      "kubernetes://databases?selector=cluster-name%3Dorders&port=28008&tls=true",
      { ...usual, port: 28008, isTls: true },
    ],
    ["kubernetes://databases?selector=a=b,c!=d,!e", { ...usual, selector: "a=b,c!=d,!e" }],
    [
      "kubernetes://databases?selector=app.kubernetes.io/name=Orders",
      { ...usual, selector: "app.kubernetes.io/name=Orders" },
    ],
    ["kubernetes://databases", null],
    ["kubernetes://databases?selector=", null],
    ["kubernetes://Data_bases?selector=a=b", null],
    ["kubernetes://databases:443?selector=a=b", null],
    ["kubernetes://user:word@databases?selector=a=b", null],
    ["kubernetes://databases/pods?selector=a=b", null],
    ["kubernetes://databases?selector=a=b&port=0", null],
    ["kubernetes://databases?selector=a=b&port=65536", null],
    ["kubernetes://databases?selector=a=b&tls=yes", null],
    ["kubernetes://databases?selector=a=b&label=c", null],
    ["kubernetes://databases?selector=a=b&selector=c=d", null],
    ["kubernetes:databases?selector=a=b", null],
    ["http://databases:8008", null],
  ] as const)
    test(`${text}: ${seed === null ? "none" : "is one"}`, () => assert.deepEqual(parsePodSeed(text), seed));
});

for (const [address, message] of [
  ["kubernetes://databases?selector=cluster-name=orders", null],
  ["kubernetes://databases", /kubernetes:\/\/NAMESPACE\?selector=LABELS/],
  ["etcd://10.0.0.1:2379", /with http or https, or one that begins with kubernetes:\/\//],
  ["orders:8008", /such as http:\/\/10\.0\.0\.1:8008/],
] as const)
  test(`discover: ${address} is ${message === null ? "valid" : "refused, with what it must be"}`, (context) => {
    const file = writeConfigFile(
      context,
      `clusters: [{ name: orders, discover: ["${address}"] }]\nlisten: [{ port: 8008 }]\n`,
    );
    const loaded = loadConfig({ file, env: {}, flags: {} });
    const problems = loaded.ok ? [] : loaded.problems.map((problem) => problem.message);
    if (message === null) assert.deepEqual(problems, []);
    else assert.match(problems.join("\n"), message);
  });
