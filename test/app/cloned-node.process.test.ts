import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort } from "../fake/free-port.ts";
import { writeConfigFile } from "../fake/config-file.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";
import { sendRequest } from "../fake/http-request.ts";
import { openFakeCluster, FakeNode } from "../fake/fake-node.ts";
import { until } from "../fake/until.ts";

const limit = { timeout: 60_000 };

for (const workers of [0, 2]) {
  for (const names of [
    ["pg1", "pg2", "pg3"],
    ["pg1", "pg3", "pg2"],
  ]) {
    const rogueName = names[1] ?? "";
    test(
      `moves no node to another address because a clone at ${rogueName}'s address lists it there (workers: ${workers})`,
      limit,
      async (context) => {
        const nodes = await openFakeCluster(context, names);
        const clones = await openFakeCluster(context, names);
        const [leader, rogue] = nodes;
        assert.ok(leader instanceof FakeNode && rogue !== undefined);
        const port = await freePort();
        const file = writeConfigFile(
          context,
          `clusters: [{ name: demo, discover: ["${leader.api}"] }]
probe: { interval: 100ms, timeout: 2s, connect_timeout: 1s, cluster_interval: 200ms, max_age: 10s }
listen: [{ port: ${port} }]
workers: ${workers}
`,
        );
        const running = new RolecallProcess(context, ["serve", "--config", file]);
        await running.waitForLog("listening");
        const statusOf = async (path: string): Promise<number> =>
          (await sendRequest(`http://127.0.0.1:${port}${path}`)).status;
        await until(
          "a fit primary and a fit replica",
          async () =>
            (await statusOf("/nodes/pg1/primary")) === 200 && (await statusOf(`/nodes/${names[2]}/replica`)) === 200,
        );
        // Same scope, system and names, but another DCS: a replica of a restored clone has taken over the address.
        rogue.members = new Map(clones.map(({ name, api }) => [name, name === rogue.name ? rogue.api : api]));
        const before = documentsOf(rogue);
        while (documentsOf(rogue) < before + 5) {
          assert.equal(await statusOf("/nodes/pg1/primary"), 200);
          await new Promise((resolve) => void setTimeout(resolve, 20));
        }
        assert.equal(await statusOf("/nodes/pg1/primary"), 200);
        assert.equal(await statusOf(`/nodes/${names[2]}/replica`), 200);
        for (const { name, requests } of clones)
          assert.ok(
            requests.every((path) => path === "/leader"),
            `${name} of the clone was asked for more than who it is`,
          );
      },
    );
  }
}

/** The number of requests for a node's cluster document. */
function documentsOf({ requests }: FakeNode): number {
  return requests.filter((path) => path === "/cluster").length;
}
