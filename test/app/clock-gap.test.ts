import { test } from "node:test";
import { type Machine, thisMachine } from "../../src/app/machine/machine.ts";
import { Monitor } from "../../src/app/monitor.ts";
import { metrics } from "../../proof/campaign/sim/subject-metrics.ts";
import { clusterOf, configOf, haproxyBackendOf, nodeOf } from "../fake/config.ts";
import { FakeHaproxy } from "../fake/fake-haproxy.ts";
import { jsonReply, neverReplies } from "../fake/fake-transport.ts";
import { silentLogger } from "../fake/silent-logger.ts";
import { until } from "../fake/until.ts";

test("after a suspend, what was pushed on older evidence is taken back once the node misses an answer", async (context) => {
  const haproxy = new FakeHaproxy(["pg/pg1"]);
  await haproxy.listen(context);
  let suspendedMs = 0;
  const document = { state: "running", role: "primary", patroni: { scope: "demo", version: "4.1.0", name: "pg1" } };
  const machine: Machine = {
    ...thisMachine,
    time: {
      boot: () => performance.now() + suspendedMs,
      wall: () => Date.now() + suspendedMs,
    },
    connect: () => ({
      get: async (path) => {
        if (path !== "/leader") return neverReplies();
        return suspendedMs === 0 ? jsonReply(document) : { failure: { kind: "timeout", detail: "no answer" } };
      },
      getStreamed: neverReplies,
      close: () => {},
    }),
  };
  const config = configOf({
    clusters: [clusterOf({ nodes: [nodeOf({ name: "pg1", api: "http://pg1:8008" })] })],
    balancers: [
      {
        name: "edge",
        haproxy: {
          socket: { host: "127.0.0.1", port: haproxy.port },
          backends: [haproxyBackendOf({ name: "pg" })],
          zone: null,
          cutSessions: false,
        },
      },
    ],
  });
  const monitor = new Monitor(
    { ...config, probe: { ...config.probe, maxAgeMs: 30_000 } },
    { log: silentLogger, machine, metrics },
  );
  context.after(() => monitor.stop());
  await monitor.restore();
  await monitor.start();
  suspendedMs = 60_000;
  monitor.clock.tick();
  // Long before the evidence is too old by the clock that a suspend stops.
  await until({ what: "the server down", seconds: 5 }, () =>
    haproxy.commands.some((command) => command.includes("down")),
  );
});

test("a suspend while the parts are being made, or after the stop, is no error", async () => {
  let suspendedMs = 0;
  // A minute before each reading.
  const time = { boot: () => performance.now() + suspendedMs, wall: () => Date.now() + (suspendedMs += 60_000) };
  const config = configOf({ clusters: [clusterOf({ nodes: [nodeOf({ name: "pg1", api: "http://pg1:8008" })] })] });
  const monitor = new Monitor(config, { log: silentLogger, machine: { ...thisMachine, time }, metrics });
  monitor.clock.tick();
  await monitor.stop();
  monitor.clock.tick();
});
