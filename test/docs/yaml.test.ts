import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { loadConfig } from "../../src/app/registry/config.ts";
import { readPolicy } from "../../src/core/command/result/policy-file.ts";
import { checkExpectations } from "../../src/features/replay/core/expectations.ts";
import { readIncident } from "../incidents/play.ts";
import { userDocuments, type FencedBlock } from "./markdown.ts";

const blocks = userDocuments().flatMap((document) => document.blocks.filter(({ language }) => language === "yaml"));
/** Added to a block that shows listeners or other keys without a cluster, since a configuration needs one. */
const someCluster = "clusters: [{ name: orders, nodes: [{ name: orders-2, api: 'http://10.0.0.1:8008' }] }]\n";

/** Writes the block into a file that is deleted with the test. Returns its name. */
function fileOf(context: TestContext, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-yaml-"));
  context.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "block.yaml"), text);
  return join(folder, "block.yaml");
}

/** What a block is, by its first keys. */
function kindOf({ lines }: FencedBlock): "policy" | "incident" | "kubernetes" | "contexts" | "chart" | "configuration" {
  const keys = Object.keys(parse(lines.join("\n")) ?? {});
  if (keys.includes("dispositions")) return "policy";
  if (keys.includes("steps")) return "incident";
  if (keys.includes("contexts")) return "contexts";
  if (keys.includes("databases") || keys.includes("volumeMounts")) return "chart";
  return keys.some((key) => ["apiVersion", "spec", "livenessProbe", "readinessProbe"].includes(key))
    ? "kubernetes"
    : "configuration";
}

const isOfChart = new Ajv({ strict: false }).compile(
  JSON.parse(readFileSync("deploy/helm/rolecall/values.schema.json", "utf8")),
);

describe("YAML of the documents", () => {
  for (const block of blocks) {
    test(`${block.file}:${block.line} is a valid ${kindOf(block)}`, (context) => {
      const text = block.lines.join("\n");
      const kind = kindOf(block);
      if (kind === "policy") readPolicy(fileOf(context, text));
      if (kind === "incident") assert.deepEqual(checkExpectations(readIncident(text, block.file)).differing, []);
      if (kind === "chart") assert.ok(isOfChart(parse(text)), JSON.stringify(isOfChart.errors));
      if (kind !== "configuration") return;
      const complete = /^clusters:/m.test(text) ? text : `${someCluster}${text}`;
      const loaded = loadConfig({ file: fileOf(context, complete), env: {}, flags: {} });
      assert.deepEqual(loaded.ok ? [] : loaded.problems.map(({ line, message }) => `${line}: ${message}`), []);
    });
  }
});
