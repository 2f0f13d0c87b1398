/** Workers of an instance that follows another one: it adopts the states of clusters that it does not know yet. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { freePort } from "../../fake/free-port.ts";
import { sendRequest } from "../../fake/http-request.ts";
import { writeConfigFile } from "../../fake/config-file.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { until } from "../../fake/until.ts";
import { workersAnswer } from "../../fake/workers-answer.ts";

test("a worker knows a cluster that its main process has adopted", { timeout: 240_000 }, async (context) => {
  const [health, admin, upstream] = [await freePort(), await freePort(), await freePort()];
  const clusters = [];
  for (const name of ["one", "two"]) {
    const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
    const list = nodes.map((node) => `{ name: ${node.name}, api: "${node.api}" }`).join(", ");
    clusters.push(`{ name: ${name}, scope: demo, nodes: [${list}] }`);
  }
  const [one = ""] = clusters;
  const owner = writeConfigFile(
    context,
    `clusters: [${clusters.join(", ")}]\nlisten: [{ port: ${upstream}, dialect: admin }]\n`,
  );
  await new RolecallProcess(context, ["serve", "--config", owner]).waitForLog('"msg":"listening"');
  const text = (followed: string): string =>
    `follow: ["http://127.0.0.1:${upstream}"]
clusters: [${followed}]
listen: [{ port: ${health} }, { port: ${admin}, dialect: admin }]
workers: 1
drain: 0s
`;
  const file = writeConfigFile(context, text(one));
  const follower = new RolecallProcess(context, ["serve", "--config", file]);
  await follower.waitForLog('"msg":"listening"', 2);
  await workersAnswer(`http://127.0.0.1:${admin}`, 1);
  const isPrimary = async (cluster: string): Promise<boolean> =>
    (await sendRequest(`http://127.0.0.1:${health}/clusters/${cluster}/nodes/pg1/primary`)).status === 200;
  await until("the first cluster", () => isPrimary("one"));
  writeFileSync(file, text(clusters.join(", ")));
  follower.process.kill("SIGHUP");
  await until({ what: "the second cluster", evidence: () => follower.stderr }, () => isPrimary("two"));
  await follower.waitForLog('"event":"reload_applied"');
  assert.doesNotMatch(follower.stderr, /out of sync/);
});
