import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { loadConfig } from "../../src/app/registry/config.ts";
import { loadContexts } from "../../src/core/command/contexts/contexts-file.ts";
import { readPolicy } from "../../src/core/command/result/policy-file.ts";
import type { JsonObject } from "../../src/core/cluster/values/json.ts";
import { knownService } from "../../src/features/kubernetes/slices/service-object.ts";
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

type Kind = "policy" | "incident" | "Service" | "contexts" | "chart" | "Alertmanager" | "configuration";

/** What a block is, by its first keys. */
function kindOf({ lines }: FencedBlock): Kind {
  const keys = Object.keys(parse(lines.join("\n")) ?? {});
  if (keys.includes("receivers")) return "Alertmanager";
  if (keys.includes("dispositions")) return "policy";
  if (keys.includes("steps")) return "incident";
  if (keys.includes("contexts")) return "contexts";
  if (keys.includes("databases") || keys.includes("volumeMounts")) return "chart";
  return keys.includes("apiVersion") ? "Service" : "configuration";
}

/** Checks that rolecall can publish the addresses of the Service, and that nothing else does. */
function assertPublishable(service: JsonObject & { readonly metadata: { readonly name: string } }): void {
  assert.equal(service["kind"], "Service");
  const key = { namespace: "databases", name: service.metadata.name, port: null, isOfPrimary: true };
  const known = knownService(key, { ...service, metadata: { ...service.metadata, uid: "1" } });
  assert.ok(known.kind === "usable" && !known.hasSelector, JSON.stringify(known));
}

interface Alertmanager {
  readonly route: { readonly receiver: string; readonly routes: readonly { readonly receiver: string }[] };
  readonly receivers: readonly { readonly name: string }[];
}

/** Checks that each route has a receiver, and what amtool says of the file, if it is installed. */
function assertRoutes(file: string): void {
  const { route, receivers }: Alertmanager = parse(readFileSync(file, "utf8"));
  const used = [route, ...route.routes].map(({ receiver }) => receiver);
  assert.deepEqual(new Set(receivers.map(({ name }) => name)), new Set(used));
  const { error, status, stdout, stderr } = spawnSync("amtool", ["check-config", file], { encoding: "utf8" });
  if (error === undefined) assert.equal(status, 0, `${stdout}${stderr}`);
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
      if (kind === "Service") assertPublishable(parse(text));
      if (kind === "Alertmanager") assertRoutes(fileOf(context, text));
      if (kind === "contexts") {
        const contexts = loadContexts({ ROLECALL_CONTEXTS_FILE: fileOf(context, text) });
        assert.ok(contexts.ok, JSON.stringify(contexts));
      }
      if (kind === "chart") assert.ok(isOfChart(parse(text)), JSON.stringify(isOfChart.errors));
      if (kind !== "configuration") return;
      const complete = /^clusters:/m.test(text) ? text : `${someCluster}${text}`;
      const loaded = loadConfig({ file: fileOf(context, complete), env: {}, flags: {} });
      assert.deepEqual(loaded.ok ? [] : loaded.problems.map(({ line, message }) => `${line}: ${message}`), []);
    });
  }
});
