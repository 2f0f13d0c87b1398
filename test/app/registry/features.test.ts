/** What is true of every feature of the program: it is loaded when it is used, and nothing of it is left after its end. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, createServer, type Socket } from "node:net";
import { describe, test, type TestContext } from "node:test";
import type { Features } from "../../../src/app/host/features.ts";
import type { FeatureCall } from "../../../src/core/http/admin-api/admin-api.ts";
import type { FeaturesContext } from "../../../src/app/host/running-feature.ts";
import { featuresOf } from "../../../src/app/registry/features.ts";
import type { CancelTimer } from "../../../src/core/cluster/timer.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { thisMachine } from "../../../src/app/machine/machine.ts";
import { Probers } from "../../../src/core/probe/probers.ts";
import { setSystemTimer } from "../../../src/core/probe/schedule/system-timer.ts";
import { buildClusters } from "../../../src/core/state/clusters.ts";
import { Store } from "../../../src/core/state/store.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import type { Offers } from "../../../src/core/feature/offer.ts";
import { evidenceBringers, nodeProbes, pasts } from "../../../src/core/feature/offers.ts";
import { clusterOf, configOf, haproxyBackendOf, listenerOf, nodeOf } from "../../fake/config.ts";
import { featuresContext } from "../../fake/features-context.ts";
import { kubeconfigText } from "../../fake/kubeconfig.ts";
import { listenDuringTest } from "../../fake/listen.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";
import { until } from "../../fake/until.ts";

/** A server of this test: it accepts, and says nothing. */
interface SilentServer {
  readonly port: number;
  /** The connections that are open. */
  readonly open: Set<Socket>;
  accepted: number;
}

/** How each feature is used, and what shows that it works. A feature without a row fails the test of the names. */
const uses: Readonly<Record<string, Use>> = {
  audit: {
    config: ({ port }) => ({
      audit: { intervalMs: 1_000, envoys: [{ name: "e1", admin: `http://127.0.0.1:${port}`, pools: null }] },
      pools: [{ name: "w", cluster: "demo", check: plainCheck("primary"), checkText: "/primary", weight: null }],
    }),
    works: (_, server) => until("a look at the Envoy", () => server.accepted > 0),
  },
  canary: {
    config: ({ port }) => ({
      clusters: [
        clusterOf({
          canaries: [
            {
              pool: "w",
              url: {
                address: { host: "127.0.0.1", port },
                user: "canary",
                database: "app",
                target: `127.0.0.1:${port}/app`,
              },
              intervalMs: 5_000,
              timeoutMs: 2_000,
              passwordFile: null,
              tls: null,
            },
          ],
        }),
      ],
      pools: [{ name: "w", cluster: "demo", check: plainCheck("primary"), checkText: "/primary", weight: null }],
    }),
    works: (_, server) => until("a try", () => server.open.size > 0),
  },
  kubernetes: {
    config: ({ port }) => ({
      kubernetes: {
        services: [{ pool: "w", service: { namespace: "databases", name: "orders" }, port: null }],
        kubeconfig: kubeconfigAt(port),
        context: null,
        instance: "edge-1",
      },
      pools: [{ name: "w", cluster: "demo", check: plainCheck("primary"), checkText: "/primary", weight: null }],
    }),
    works: (_, server) => until("the watches and a Lease", () => server.open.size > 1),
  },
  history: {
    config: () => ({
      history: {
        isEnabled: true,
        directory: join(temporaryFolder("past"), "history"),
        sizeMax: 1_000_000,
        ageMaxMs: 60_000,
      },
    }),
    works: (_features, _server, { history }, offers) => {
      pasts.in(offers)[0]?.addAccused("demo", new Map(), Date.now());
      return until("a directory", () => history.directory !== null && existsSync(history.directory));
    },
  },
  haproxy: {
    config: ({ port }) => ({
      audit: { intervalMs: 1_000, envoys: [] },
      balancers: [
        {
          name: "lb1",
          haproxy: {
            socket: { host: "127.0.0.1", port },
            zone: null,
            cutSessions: false,
            backends: [haproxyBackendOf({ name: "w", cluster: "demo" })],
          },
        },
      ],
    }),
    works: (_, server) => until("a push and a look", () => server.accepted >= 2),
  },
  pgbouncer: {
    config: ({ port }) => ({
      audit: { intervalMs: 1_000, envoys: [] },
      poolers: [poolerAt(port)],
    }),
    works: (_, server) => until("a push and a look", () => server.accepted >= 2),
  },
  page: {
    config: () => ({ listen: [listenerOf({ dialect: "admin" })] }),
    works: async (features) => {
      const response = Object.assign(new EventEmitter(), {
        written: "",
        writeHead: () => {},
        write: (text: string) => (response.written += text) !== "",
        end: () => {},
      });
      const about = callOf(null, "GET");
      await features.routes.get("events/stream")?.({ ...about, call: { ...about.call, response: response as never } });
      await until("the end of the first state", () => response.written.includes("event: ready"));
    },
  },
  gateway: {
    config: () => ({ listen: [listenerOf({ dialect: "admin" })] }),
    works: async (features) => {
      const reply = await features.clusterRoutes.get("switchover")?.(callOf("demo", "GET"));
      assert.equal(reply?.status, 404);
    },
  },
  switchover: {
    config: ({ port }) => ({ poolers: [poolerAt(port)] }),
    works: (features, server) => {
      void features.clusterRoutes.get("switchover/resume")?.(callOf("demo"));
      return until("a console", () => server.accepted > 0);
    },
  },
  agent: {
    config: () => ({ listen: [agentListener] }),
    works: (features, server, config) => {
      const converse = features.handlerFor("agent", { listener: agentListener, config, key: "b" });
      const socket = connect(server.port, "127.0.0.1");
      const rest = { peer: "127.0.0.1", limits: agentListener.access.limits, reject: (): void => {} };
      converse({ socket, ...rest });
      return until("the connection of the agent", () => server.open.size === 1);
    },
  },
  follow: {
    config: ({ port }) => ({
      clusters: [clusterOf({ follow: [{ url: `http://127.0.0.1:${port}`, tokenFile: null, tls: null }] })],
    }),
    works: async (_, server, __, offers) => {
      // The core begins it, once the probers know the clusters.
      for (const bringer of evidenceBringers.in(offers)) void bringer.start();
      await until("a stream", () => server.accepted > 0);
    },
  },
  dcs: {
    config: ({ port }) => ({ clusters: [watchedCluster(`http://127.0.0.1:${port}`)] }),
    works: async (features, server, { clusters }) => {
      features.probing([]);
      assert.equal(server.accepted, 0, "what is not probed here is not watched");
      features.probing(clusters);
      await until("a read", () => server.accepted > 0);
    },
  },
  exporter: {
    config: ({ port }) => ({
      clusters: [clusterOf({ nodes: [nodeOf({ name: "n1", exporter: `http://127.0.0.1:${port}` })] })],
    }),
    works: probesNode,
  },
  companions: {
    config: ({ port }) => ({
      clusters: [
        clusterOf({
          nodes: [nodeOf({ name: "n1", api: "http://127.0.0.1:1" })],
          companions: [{ name: "pooler", port, kind: "pgbouncer", path: null }],
        }),
      ],
    }),
    works: probesNode,
  },
  fleet: {
    config: ({ port }) => ({
      fleet: {
        name: "edges",
        advertise: "http://127.0.0.1:1",
        etcd: { urls: [`http://127.0.0.1:${port}`], prefix: "/rolecall", tls: null, auth: null },
        zone: null,
        observers: 1,
        weight: 1,
        leaseMs: 5_000,
        tokenFile: null,
        tls: null,
      },
    }),
    works: (_, server) => until("a call of etcd", () => server.accepted > 0),
  },
  xds: {
    config: () => ({ listen: [xdsListener] }),
    works: async (features, server, config) => {
      const converse = features.handlerFor("xds", { listener: xdsListener, config, key: "a" });
      // A client that never says anything: its other end is the silent server's.
      const socket = connect(server.port, "127.0.0.1");
      converse({ socket } as unknown as Parameters<typeof converse>[0]);
      await until("the greeting of the gRPC server", () => socket.bytesWritten > 0);
    },
  },
};

function poolerAt(port: number): Config["poolers"][number] {
  return {
    name: "pgb1",
    pgbouncer: { address: { host: "127.0.0.1", port }, user: "r", passwordFile: null, tls: null, processes: 1 },
    databases: [
      { name: "orders", pool: null, cluster: "demo", check: plainCheck("primary"), file: "/no/such/folder/f" },
    ],
    pauseLimitMs: 3_000,
    holdOnLossMs: null,
    holdEnd: "wait",
  };
}

/** Probes the node of a configuration as the core does, with what is brought, until that is taken back. */
async function probesNode(_: Features, server: SilentServer, config: Config, offers: Offers): Promise<void> {
  const store = new Store("run", buildClusters(config, new Map()));
  const probers = new Probers({
    cluster: (name) => store.clusterNamed(name),
    policy: (name) => store.policyOf(name),
    record: () => {},
    now: () => performance.now(),
    wall: () => Date.now(),
    random: () => 0,
    connect: thisMachine.connect,
    brought: () => nodeProbes.in(offers),
    onProbeFinished: () => {},
    onTls: () => {},
  });
  const unsubscribe = nodeProbes.subscribe(offers, () => {
    probers.followBrought();
    if (nodeProbes.in(offers).length > 0) return;
    unsubscribe();
    probers.stop();
  });
  void probers.start(config, 10);
  await until("a probe", () => server.accepted > 0);
}

/** A cluster whose leader key is in an etcd. */
function watchedCluster(etcd: string): Config["clusters"][number] {
  return clusterOf({ dcs: { etcd: [etcd], prefix: "/service", scope: null, tls: null, auth: null } });
}

/** A call of an operator for a cluster, as far as features read it. */
function callOf(cluster: string | null, method = "POST"): FeatureCall {
  const call = {
    request: { method, target: "" },
    message: { headers: { "content-type": "application/json" }, socket: { setNoDelay: () => {} } },
    caller: { principal: "ops", address: "127.0.0.1" },
  };
  const access = { management: true, readOnly: false };
  const about = { path: "", query: "", cluster, only: null, access, now: () => 0, wall: () => 0 };
  return { call, ...about } as unknown as FeatureCall;
}

interface Use {
  readonly config: (server: SilentServer) => Partial<Config>;
  readonly works: (features: Features, server: SilentServer, config: Config, offers: Offers) => Promise<unknown>;
}

/** Writes a kubeconfig of an API server on a port. @returns the name of the file */
function kubeconfigAt(port: number): string {
  const file = join(temporaryFolder("kubeconfig"), "config");
  writeFileSync(file, kubeconfigText({ server: `http://127.0.0.1:${port}`, token: "secret" }), { mode: 0o600 });
  return file;
}

const xdsListener = listenerOf({
  dialect: "xds",
  xds: { checksAt: null, cutMs: 2_000, staleAfterMs: 3_000, envoys: [] },
});

const agentListener = listenerOf({
  dialect: "agent",
  cluster: "demo",
  agent: { pool: null, check: { route: "replica", query: "" }, weight: null, drainBy: "weight" },
});

/** Counts the timers that are set. */
class CountedTimers {
  readonly #set = new Set<object>();

  get size(): number {
    return this.#set.size;
  }

  readonly setTimer: FeaturesContext["setTimer"] = (run, delayMs) => {
    const key = {};
    this.#set.add(key);
    const cancel: CancelTimer = setSystemTimer(() => {
      this.#set.delete(key);
      run();
    }, delayMs);
    return () => {
      this.#set.delete(key);
      cancel();
    };
  };
}

async function silentServer(context: TestContext): Promise<SilentServer> {
  const open = new Set<Socket>();
  const state = { port: 0, open, accepted: 0 };
  const server = createServer((socket) => {
    state.accepted += 1;
    open.add(socket);
    socket.on("error", () => {});
    socket.on("data", () => {});
    socket.on("close", () => void open.delete(socket));
  });
  state.port = await listenDuringTest(context, server);
  return state;
}

function opened(timers: CountedTimers): {
  readonly features: Features;
  readonly problems: unknown[];
  readonly offers: Offers;
} {
  const problems: unknown[] = [];
  const offers = { process: "i1" };
  const features = featuresOf(
    featuresContext({ contained: (error) => void problems.push(error), setTimer: timers.setTimer, offers }),
  );
  return { features, problems, offers };
}

/** A configuration that uses no feature. */
const unusing = configOf({ clusters: [], listen: [] });

describe("every feature of the program", () => {
  test("has a row here", () => {
    assert.deepEqual([...opened(new CountedTimers()).features.states.keys()].sort(), Object.keys(uses).sort());
  });

  test("is not loaded by a configuration that does not use it", () => {
    const { features } = opened(new CountedTimers());
    features.configure(unusing);
    assert.deepEqual([...new Set(features.states.values())], ["unused"]);
  });

  for (const [name, { config, works }] of Object.entries(uses)) {
    for (const [how, end] of [
      ["its end", (features: Features) => features.end()],
      ["a configuration that does not use it", (features: Features) => features.configure(unusing)],
    ] as const)
      test(`${name} leaves no timer and no connection after ${how}`, async (context) => {
        const server = await silentServer(context);
        const timers = new CountedTimers();
        const before = resources();
        const { features, problems, offers } = opened(timers);
        const used = configOf({ clusters: [], listen: [], ...config(server) });
        features.configure(used);
        await until(`${name} is open`, () => features.states.get(name) === "open");
        await works(features, server, used, offers);
        await end(features);
        await until("the end of all connections", () => server.open.size === 0);
        await until(`no timer and no socket more than before: ${before.join()}`, () => {
          const left = resources();
          return timers.size === 0 && left.join() === before.join();
        });
        assert.deepEqual(problems, []);
      });
  }
});

/** The timers, sockets and children of this process that keep it alive. */
function resources(): readonly string[] {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => /Timeout|TCPSocketWrap|PipeConnect|TCPConnect|TLS|ProcessWrap|FSReqCallback/.test(kind))
    .sort();
}
