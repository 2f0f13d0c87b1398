/** A service whose file has every key that was removed since 0.1.0: it starts, serves, and names each one. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { removedKeys } from "../../src/core/config/sources/removed-keys.ts";
import { writeConfigFile } from "../fake/config-file.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { freePort } from "../fake/free-port.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";

const limit = { timeout: 120_000 };

test(
  "a service starts with each removed key, names it at the start and at a reload, and has its new name's value",
  limit,
  async (context) => {
    const [node] = await openFakeCluster(context, ["pg1"]);
    const [health, agent] = [await freePort(), await freePort()];
    const weight = "weight: { by: lag }";
    const text = `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${node?.api}" }] }]
drain: 0s
fast_lane: false
listen:
  - { port: ${health}, limits: { header_timeout: 3s, pipelined: 6, body: 7kB } }
  - { port: ${agent}, dialect: agent, cluster: demo, ${weight} }
pools: [{ name: reads, check: /replica, ${weight} }]
balancers: [{ haproxy: { socket: /no/such.sock, backends: [{ name: r, check: /replica, ${weight} }] } }]
`;
    const file = writeConfigFile(context, text);
    const running = new RolecallProcess(context, ["serve", "--config", file]);
    await running.waitForLog('"listening"', 2);
    assert.equal((await fetch(`http://127.0.0.1:${health}/nodes/pg1/primary`)).status, 200);
    const named = (): readonly string[] =>
      [...running.stderr.matchAll(/^\{"level":"warn",.*"rule":"RC021","key":"([^"]+)".*"msg":"removed key"\}$/gm)].map(
        ([, key = ""]) => key.replaceAll(/\[\d+\]/g, "[]"),
      );
    assert.deepEqual(named().toSorted(), removedKeys.map(({ path }) => path).toSorted());
    writeFileSync(file, text.replace("fast_lane: false", "fast_lane: maybe"));
    running.process.kill("SIGHUP");
    await running.waitForLog("fast_lane: must be true, false or force");
    writeFileSync(file, text.replace("fast_lane: false\n", ""));
    running.process.kill("SIGHUP");
    await running.waitForLog('"reloaded"');
    assert.equal(named().length, 2 * removedKeys.length - 1);
  },
);
