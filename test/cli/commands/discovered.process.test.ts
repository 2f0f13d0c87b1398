import assert from "node:assert/strict";
import { test } from "node:test";
import { startSimulator } from "../../../src/tools/simulator/simulator.ts";
import { freePort } from "../../fake/free-port.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";

test("a service warns that it has named its cluster without its nodes", { timeout: 60_000 }, async (context) => {
  const argv = ["serve", "--discover", "http://127.0.0.1:1", "--listen", `127.0.0.1:${await freePort()}`];
  const running = new RolecallProcess(context, [
    ...argv,
    "--set",
    "probe.connect_timeout=100ms",
    "--set",
    "probe.timeout=300ms",
  ]);
  await running.waitForLog("cluster named without its nodes: none reported a scope; --cluster names it");
});

test("a service that its nodes named does not warn that they did not", { timeout: 60_000 }, async (context) => {
  const simulator = await startSimulator({ nodes: 1, port: 0, scope: "orders" });
  context.after(() => simulator.stop());
  const seed = simulator.nodes[0]?.url ?? "";
  const running = new RolecallProcess(context, [
    "serve",
    "--discover",
    seed,
    "--listen",
    `127.0.0.1:${await freePort()}`,
  ]);
  await running.waitForLog('"listening"');
  assert.match(running.stderr, /started to monitor orders/);
  assert.doesNotMatch(running.stderr, /none reported a scope/);
});
