/**
 * The grammar of texts that are put together: the events and situations of every condition (test/spec/conditions), the
 * output of commands, and the descriptions of keys.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { allConditions } from "../../src/app/registry/conditions.ts";

/** What is wrong in a text, wherever it is. */
const faults: readonly (readonly [what: string, pattern: RegExp])[] = [
  [
    "a plural after 1",
    /(?<![\d.,:/-])\b1 (?:nodes|replicas|checks|probes|clusters|poolers|pools|findings|servers|members|rules|databases|samples)\b(?! of severity)/,
  ],
  [
    "a singular after a number",
    /(?<![\d.,:/-])\b(?:[2-9]|[1-9]\d+) (?:node|replica|check|probe|cluster|pooler|pool|finding|server|member|rule|database|sample)\b/,
  ],
  ["a genitive of the plural after a singular", /[a-rt-z]' [a-z]+/],
  [
    "a before a vowel",
    /\b[Aa] (?:address|answer|error|envoy|instance|event|etcd|admin|agent|audit|exporter|edge|operator|authority)\b/,
  ],
  [
    "an before a consonant",
    /\b[Aa]n (?:node|cluster|check|pooler|replica|primary|leader|balancer|database|member|file)\b/,
  ],
  ["a word twice", /\b(the|a|an|of|to|is|it|and|or|for|noloadbalance|nofailover)[; ]+\1\b/],
];

function faultsOf(text: string): readonly string[] {
  return faults.flatMap(([what, pattern]) => {
    const found = pattern.exec(text);
    return found === null ? [] : [`${what}: ${text.slice(Math.max(0, found.index - 40), found.index + 60)}`];
  });
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

function textsIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    return file.endsWith(".yaml") ? stringsIn(parse(text)) : text.split("\n");
  });
}

test("each fault is found, and what is right is not", () => {
  const wrong = [
    "1 nodes out",
    "2 node out",
    "the instance that is followed' certificates",
    "a address",
    "an node",
    "of of pg1",
    "noloadbalance; noloadbalance",
  ];
  for (const text of wrong) assert.equal(faultsOf(text).length, 1, text);
  const right = "1 node out; 21 nodes; the nodes' certificates; an address of a node; 0.1 s; pg1 nodes; 10.0.0.1 nodes";
  assert.deepEqual(faultsOf(right), []);
});

test("the events, situations and advice of every condition", () => {
  assert.deepEqual(textsIn("test/spec/conditions").flatMap(faultsOf), []);
});

test("the title of every condition, and what is said at its end, of a node, a cluster or a target", () => {
  const texts = allConditions.flatMap(({ title, events }) => [
    title,
    ...(events?.endText ? [events.endText("demo", "pg1", "lb1"), events.endText("demo", null, "lb1")] : []),
  ]);
  assert.deepEqual(texts.flatMap(faultsOf), []);
  assert.deepEqual(
    texts.filter((text) => /undefined|  |^\s|\s$/.test(text)),
    [],
  );
});

test("the output of commands", () => {
  assert.deepEqual(textsIn("test/spec/cli/golden").flatMap(faultsOf), []);
});

test("the descriptions of the keys", () => {
  assert.deepEqual(stringsIn(JSON.parse(readFileSync("config/schema.json", "utf8"))).flatMap(faultsOf), []);
});
