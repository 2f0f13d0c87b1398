import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { sendRequest } from "../fake/http-request.ts";
import { openFakeCluster } from "../fake/fake-node.ts";
import { listenDuringTest } from "../fake/listen.ts";
import { freePort } from "../fake/free-port.ts";
import { writeConfigFile } from "../fake/config-file.ts";
import { startWithSocket } from "../fake/rolecall-process.ts";

const limit = { timeout: 60_000 };

test("keeps an inherited socket of an admin listener open with workers", limit, async (context) => {
  const [pg1] = await openFakeCluster(context, ["pg1"]);
  const socket = createServer();
  const [admin, port] = [await listenDuringTest(context, socket), await freePort()];
  const file = writeConfigFile(
    context,
    `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${pg1?.api}" }] }]
listen: [{ port: ${admin}, dialect: admin }, { port: ${port}, whole_cluster: true }]
workers: 1
`,
  );
  const running = startWithSocket(context, ["serve", "--config", file], socket);
  await running.waitForLog("listening", 2);
  await running.waitForLog("worker started");
  // Both processes share the descriptor: this one must stop accepting.
  socket.close();
  assert.equal((await sendRequest(`http://127.0.0.1:${port}/primary`)).status, 200);
  assert.equal((await sendRequest(`http://127.0.0.1:${admin}/livez`)).status, 200);
  running.process.kill("SIGINT");
  assert.equal(await running.exit, 0);
});

test(
  "refuses an inherited socket on a public address for an admin listener that anyone could use",
  limit,
  async (context) => {
    const [pg1] = await openFakeCluster(context, ["pg1"]);
    for (const [keys, isRefused] of [
      ["dialect: admin", true],
      ["dialect: admin, read_only: true", false],
      ["management: on", true],
      ["management: on, allow: [10.0.0.0/8]", false],
    ] as const) {
      const socket = createServer();
      const port = await listenDuringTest(context, socket, "0.0.0.0");
      const file = writeConfigFile(
        context,
        `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${pg1?.api}" }] }]\nlisten: [{ port: ${port}, ${keys} }]\n`,
      );
      const running = startWithSocket(context, ["serve", "--config", file], socket);
      if (isRefused) {
        assert.equal(await running.exit, 2, keys);
        assert.match(running.stderr, /its socket has the address 0\.0\.0\.0, but its clients can make changes/);
        assert.doesNotMatch(running.stderr, /choose another port/);
      } else {
        await running.waitForLog("listening");
        running.process.kill("SIGINT");
        assert.equal(await running.exit, 0);
      }
    }
  },
);
