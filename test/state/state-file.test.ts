import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pino } from "pino";
import { App } from "../../src/app/app.ts";
import { clusterOf, configOf, listenerOf } from "../fake/config.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { until } from "../fake/until.ts";

test("a corrupt state file is a warning with its name, unfinished ones beside it go, and the process starts", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-app-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const stateFile = join(folder, "members.json");
  const nodes = await openFakeCluster(context, ["pg1"]);
  writeFileSync(stateFile, '{"clusters":{"demo":[{"na');
  writeFileSync(`${stateFile}.99999999.0a1b2c3d.tmp`, "");
  const listen = [listenerOf({ wholeCluster: true })];
  const config = { ...configOf({ clusters: [clusterOf({ discover: [nodes[0]?.api ?? ""] })], listen }), stateFile };
  const lines: string[] = [];
  const app = new App(config, pino({}, { write: (line: string) => void lines.push(line) }));
  context.after(() => app.stop({ drains: false }));
  await app.start();
  const url = `http://127.0.0.1:${app.doors[0]?.port}/nodes/pg1/primary`;
  await until("a fit answer", async () => (await fetch(url)).status === 200);
  const warned = lines
    .map((line): { level: number; file?: string } => JSON.parse(line))
    .filter(({ file }) => file === stateFile);
  assert.deepEqual(
    warned.map(({ level }) => level),
    [40, 30],
  );
  assert.ok(!existsSync(`${stateFile}.99999999.0a1b2c3d.tmp`));
});
