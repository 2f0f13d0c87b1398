import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { unrestrictedAccess } from "../../../../src/core/config/model/listener-access-config.ts";
import { ConnectionBudget, parseDescriptorLimit } from "../../../../src/core/http/access/connection-budget.ts";
import { ConnectionLimiter } from "../../../../src/core/http/access/connection-limiter.ts";
import { openFakeCluster } from "../../../fake/fake-node.ts";
import { freePort } from "../../../fake/free-port.ts";
import { writeConfigFile } from "../../../fake/config-file.ts";
import { RolecallProcess } from "../../../fake/rolecall-process.ts";
import { until } from "../../../fake/until.ts";

const limit = { timeout: 60_000 };

test("reserves descriptors for probes: half of a low limit, 512 of a high one", () => {
  const maxima = [1, 2, 64, 1_000, 1_024, 1_025, 20_000, 1_048_576].map(
    (descriptors) => new ConnectionBudget(descriptors).max,
  );
  assert.deepEqual(maxima, [1, 1, 32, 500, 512, 513, 19_488, 1_048_064]);
  assert.equal(new ConnectionBudget(Infinity).max, Infinity);
});

test("parses the limit in /proc/self/limits", () => {
  const rows = "Limit                     Soft Limit           Hard Limit           Units     \n";
  assert.equal(
    parseDescriptorLimit(`${rows}Max open files            1024                 524288               files     \n`),
    1_024,
  );
  assert.equal(
    parseDescriptorLimit(`${rows}Max open files            unlimited            unlimited            files     \n`),
    null,
  );
  assert.equal(parseDescriptorLimit(""), null);
});

test("listeners share one budget, and a closed connection makes room for all of them", () => {
  const budget = new ConnectionBudget(6);
  const refused: string[] = [];
  const [one, other] = ["one", "other"].map(
    (name) => new ConnectionLimiter(unrestrictedAccess.limits, () => refused.push(name), budget),
  );
  assert.ok(one !== undefined && other !== undefined);
  assert.deepEqual(
    [
      one.acquire("10.0.0.1"),
      one.acquire("10.0.0.2"),
      other.acquire("10.0.0.1"),
      other.acquire("10.0.0.2"),
      one.acquire("10.0.0.3"),
    ],
    ["10.0.0.1", "10.0.0.2", "10.0.0.1", null, null],
  );
  one.release("10.0.0.1");
  assert.equal(other.acquire("10.0.0.2"), "10.0.0.2");
  assert.equal(one.acquire("10.0.0.3"), null);
});

/** rolecall with few file descriptors and a max_age of one second. */
async function cramped(
  context: TestContext,
  workers: number,
): Promise<{ readonly running: RolecallProcess; readonly port: number }> {
  const nodes = await openFakeCluster(context, ["pg1", "pg2"]);
  const port = await freePort();
  const configured = nodes.map(({ name, api }) => `{ name: ${name}, api: "${api}" }`).join(", ");
  const file = writeConfigFile(
    context,
    `clusters: [{ name: demo, nodes: [${configured}] }]
probe: { interval: 100ms, timeout: 300ms, connect_timeout: 100ms, max_age: 1s }
listen: [{ port: ${port}, whole_cluster: true }]
workers: ${workers}
`,
  );
  const command = ["sh", "-c", 'ulimit -n 160; exec "$0" "$@"', process.execPath];
  const running = new RolecallProcess(context, ["serve", "--config", file], { command });
  await running.waitForLog("listening");
  if (workers > 0) await running.waitForLog("worker started", workers);
  return { running, port };
}

/** Sends a request on an open connection. */
function askOver(socket: Socket, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once("data", (text: Buffer) => resolve(text.toString("latin1").split("\r\n", 1)[0] ?? ""));
    socket.once("close", () => reject(new Error("the connection was closed")));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: any\r\n\r\n`);
  });
}

async function flood(context: TestContext, port: number, count: number): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1"));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (const socket of sockets) socket.on("error", () => {});
  await Promise.all(
    sockets.map(
      (socket) => new Promise<void>((resolve) => void socket.once("connect", resolve).once("close", () => resolve())),
    ),
  );
  return sockets;
}

for (const workers of [0, 2]) {
  test(
    `a flood of connections takes no descriptor from the probes, and ends no process (workers: ${workers})`,
    limit,
    async (context) => {
      const { running, port } = await cramped(context, workers);
      const socket = connect(port, "127.0.0.1");
      context.after(() => socket.destroy());
      await until("a fit primary", async () => (await askOver(socket, "/primary")) === "HTTP/1.1 200 OK");
      const sockets = await flood(context, port, 500);
      await until(
        "the connections above the limit are closed",
        () => sockets.filter(({ destroyed }) => destroyed).length >= 500 - 80 * Math.max(1, workers),
      );
      // Longer than max_age: without probes the answers would be stale.
      const endMs = performance.now() + 2_000;
      while (performance.now() < endMs) {
        assert.equal(await askOver(socket, "/primary"), "HTTP/1.1 200 OK");
        assert.equal(await askOver(socket, "/nodes/pg2/replica"), "HTTP/1.1 200 OK");
        assert.equal(await askOver(socket, "/readyz"), "HTTP/1.1 200 OK");
        await new Promise((resolve) => void setTimeout(resolve, 50));
      }
      for (const open of sockets) open.destroy();
      await until("an answer on a new connection", async () => {
        const again = connect(port, "127.0.0.1");
        again.on("error", () => {});
        const answered = await askOver(again, "/primary").catch(() => "");
        again.destroy();
        return answered === "HTTP/1.1 200 OK";
      });
      assert.doesNotMatch(running.stderr, /worker ended|probes not sent|EMFILE/);
    },
  );
}
