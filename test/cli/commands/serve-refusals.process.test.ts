import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { openFakeCluster, type FakeNode } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";

const limit = { timeout: 60_000 };

function configOf(nodes: readonly FakeNode[], listeners: string): string {
  const rows = nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}" }`).join(", ");
  return `clusters: [{ name: demo, nodes: [${rows}] }]\nlisten: [${listeners}]\ndrain: 100ms\n`;
}

async function status(port: number, path: string): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}${path}`)).status;
}

test("refuses an admin listener that anyone can reach, at the start and at a reload", limit, async (context) => {
  const nodes = await openFakeCluster(context, ["pg1"]);
  const [port, admin] = [await freePort(), await freePort()];
  const open = `{ port: ${port}, whole_cluster: true }`;
  const file = writeConfigFile(context, configOf(nodes, open));
  const running = new RolecallProcess(context, ["serve", "--config", file]);
  await running.waitForLog("listening");
  const listeners = `${open}, { address: 0.0.0.0, port: ${admin}, dialect: admin }`;
  writeFileSync(file, configOf(nodes, listeners));
  running.process.kill("SIGHUP");
  await running.waitForLog("reload refused");
  assert.match(running.stderr, /must be a loopback address/);
  assert.equal(await status(port, "/primary"), 200);
  await assert.rejects(status(admin, "/livez"));
  const other = new RolecallProcess(context, ["serve", "--config", file]);
  assert.equal(await other.exit, 2);
  assert.match(other.stderr, /listen\[1\]\.address: must be a loopback address/);
  writeFileSync(file, configOf(nodes, listeners.replace("dialect", "read_only: true, dialect")));
  running.process.kill("SIGHUP");
  await running.waitForLog('"reloaded"');
  const drain = { method: "POST", body: '{"for": "1min", "reason": "test", "all": true}' };
  assert.equal((await fetch(`http://127.0.0.1:${admin}/drains/demo/pg1`, drain)).status, 403);
  assert.equal(await status(port, "/primary"), 200);
});
