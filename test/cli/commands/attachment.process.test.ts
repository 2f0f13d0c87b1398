import assert from "node:assert/strict";
import { test } from "node:test";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { RolecallProcess } from "../../fake/rolecall-process.ts";
import { until } from "../../fake/until.ts";

test("Ctrl-C ends at once with what is known", { timeout: 60_000 }, async (context) => {
  const [pg1, pg2] = await openFakeCluster(context, ["pg1", "pg2"]);
  assert.ok(pg1 !== undefined && pg2 !== undefined);
  pg1.fields = { xlog: { location: 9_000 } };
  const options = ["--for", "10min", "--set", "guards.attach_window=9min", "--set", "probe.interval=100ms"];
  const argv = ["check", "/replica", "--node", "pg2", "--discover", pg1.api, "--cluster", "demo", ...options];
  const running = new RolecallProcess(context, argv);
  await until("several probes of pg2", () => pg2.requests.filter((path) => path === "/leader").length > 40);
  running.process.kill("SIGINT");
  assert.equal(await running.exit, 2);
  assert.match(running.stdout, /^not known \(watched for \d.*\) {2}demo\/pg2 for \/replica/);
});
