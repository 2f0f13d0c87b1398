import assert from "node:assert/strict";
import { test } from "node:test";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";

test("the level of a log line is a name", { timeout: 60_000 }, async (context) => {
  const [pg1] = await openFakeCluster(context, ["pg1"]);
  const clusters = `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${pg1?.api}" }] }]`;
  const file = writeConfigFile(context, `${clusters}\nlisten: [{ port: ${await freePort()} }]\ndrain: 0s\n`);
  const running = new RolecallProcess(context, ["serve", "--config", file]);
  await running.waitForLog('"msg":"listening"');
  await pg1?.close();
  await running.waitForLog('"event":"primary_lost"');
  running.process.kill("SIGTERM");
  await running.exit;
  const lines = running.stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly level: unknown; readonly event?: string });
  assert.deepEqual(new Set(lines.map(({ level }) => level)), new Set(["info", "warn", "error"]));
  assert.equal(lines.find(({ event }) => event === "primary_lost")?.level, "error");
});
