import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { ask } from "../fake/ask.ts";
import { liveCluster } from "../fake/live-node.ts";
import { listen } from "../fake/listening.ts";
import { fileOf, freePort, Running } from "../fake/running.ts";

test("keeps an inherited socket of an admin listener open with workers", { timeout: 60_000 }, async (context) => {
  const [pg1] = await liveCluster(context, ["pg1"]);
  const socket = createServer();
  const [admin, port] = [await listen(context, socket), await freePort()];
  const file = fileOf(
    context,
    `clusters: [{ name: demo, nodes: [{ name: pg1, api: "${pg1?.api}" }] }]
listen: [{ port: ${admin}, dialect: admin }, { port: ${port}, whole_cluster: true }]
workers: 1
`,
  );
  // LISTEN_PID must be the id of the process itself: a shell sets it before it becomes that process.
  const command = ["/bin/sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"', process.execPath];
  const running = new Running(context, ["serve", "--config", file], { command, sockets: [descriptorOf(socket)] });
  await running.says("listening", 2);
  // Both processes share the descriptor: this one must stop accepting.
  socket.close();
  assert.equal((await ask(`http://127.0.0.1:${port}/primary`)).status, 200);
  assert.equal((await ask(`http://127.0.0.1:${admin}/livez`)).status, 200);
  running.process.kill("SIGINT");
  assert.equal(await running.exit, 0);
});

/** The file descriptor of a listening server, as a parent process passes it on. */
function descriptorOf(server: object): number {
  const handle: unknown = Reflect.get(server, "_handle");
  const fd: unknown = typeof handle === "object" && handle !== null ? Reflect.get(handle, "fd") : undefined;
  if (typeof fd !== "number") throw new Error("Cannot pass the socket on: this system does not show its descriptor");
  return fd;
}
