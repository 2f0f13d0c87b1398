import { createServer } from "node:net";
import type { TestContext } from "node:test";
import { type ChannelOptions, credentials } from "@grpc/grpc-js";
import pino from "pino";
import type { ClusterState } from "../../../src/core/cluster/snapshot.ts";
import { plainCheck } from "../../../src/core/health/check.ts";
import type { PoolConfig } from "../../../src/core/config/model/config.ts";
import type { ConnectedAddress } from "../../../src/core/probe/client/connected-addresses.ts";
import { setSystemTimer } from "../../../src/core/probe/schedule/system-timer.ts";
import { Scope } from "../../../src/core/feature/scope.ts";
import { XdsService, type XdsServiceContext, type XdsSettings } from "../../../src/features/xds/xds-service.ts";
import { listenDuringTest } from "../../fake/listen.ts";
import { storeFixture, type StoreFixture } from "../../fake/store-fixture.ts";
import { XdsClientStream, type xdsMethods } from "../../fake/xds-client.ts";

/** A service on a port, over a cluster in memory: pg1 leads, pg2 (zone a) follows, pg3 (zone b) never answered. */
export interface XdsFixture {
  readonly cluster: StoreFixture;
  readonly service: XdsService;
  readonly scope: Scope;
  /** The settings with the pools `write` and `read`. */
  readonly settings: (parts?: Partial<XdsSettings>) => XdsSettings;
  readonly connect: (method: keyof typeof xdsMethods, channel?: ChannelOptions) => XdsClientStream;
  /** `HOST:PORT` of the service. */
  readonly address: string;
  /** The lines of the log, as text. */
  readonly lines: string[];
  readonly counts: Map<string, number>;
  readonly errors: unknown[];
  /** The nodes of which it was told that they are elsewhere. */
  readonly elsewhere: string[];
}

/** What a test changes. */
export interface XdsFixtureOptions {
  /** The host of each node's database. */
  readonly hostOf?: (name: string) => string;
  readonly lookUp?: (host: string) => Promise<readonly string[]>;
  readonly probedAt?: (name: string) => ConnectedAddress | null;
  readonly settings?: Partial<XdsSettings>;
  /** What the service sees of the state of the cluster. Default: all of it. */
  readonly seen?: (state: ClusterState) => ClusterState;
}

const hosts: Readonly<Record<string, string>> = { pg1: "10.0.0.1", pg2: "10.0.0.2", pg3: "10.0.0.3" };

/** A pool of the cluster `demo`. */
export function poolOf(name: string, route: "primary" | "replica", weight: PoolConfig["weight"] = null): PoolConfig {
  return { name, cluster: "demo", check: plainCheck(route), checkText: `/${route}`, weight };
}

/** Serves on a free port until the test is over. */
export async function xdsFixture(context: TestContext, options: XdsFixtureOptions = {}): Promise<XdsFixture> {
  const { hostOf = (name) => hosts[name] ?? "", lookUp = () => Promise.reject(new Error("ENOTFOUND")) } = options;
  const cluster = storeFixture({}, false, (name) => ({ host: hostOf(name), port: 5432 }));
  const [lines, counts, errors, elsewhere]: [string[], Map<string, number>, unknown[], string[]] = [
    [],
    new Map(),
    [],
    [],
  ];
  const settings = (parts: Partial<XdsSettings> = {}): XdsSettings => ({
    name: "xds 127.0.0.1:8010",
    pools: [poolOf("write", "primary"), poolOf("read", "replica")],
    checksAt: { host: "127.0.0.1", port: 8007 },
    cutMs: 2_000,
    roundMs: 0,
    staleAfterMs: null,
    counted: "all",
    ...options.settings,
    ...parts,
  });
  const serviceContext: XdsServiceContext = {
    log: pino({ level: "info" }, { write: (line: string) => void lines.push(line) }),
    metrics: {
      set: (name, _, value) => void counts.set(name, value),
      count: (name) => void counts.set(name, (counts.get(name) ?? 0) + 1),
    },
    cluster: () => (options.seen ?? ((state: ClusterState) => state))(cluster.state()),
    policy: (name) => cluster.store.policyOf(name),
    now: () => cluster.nowMs,
    instance: () => "i1",
    onElsewhere: (_, node) => void elsewhere.push(node),
    probedAt: ({ name }) => options.probedAt?.(name) ?? null,
    lookUp,
    onError: (_, error) => void errors.push(error),
    onStreamError: (error) => void errors.push(error),
  };
  const scope = new Scope({ setTimer: setSystemTimer, onProblem: (...problem) => void errors.push(problem) });
  const service = new XdsService(settings(), serviceContext, scope);
  cluster.store.onChange(({ name }) => service.clusterChanged(name));
  const port = await listenDuringTest(
    context,
    createServer((socket) => {
      socket.on("error", () => {});
      service.accept(socket);
    }),
  );
  context.after(() => scope.end());
  const address = `127.0.0.1:${port}`;
  const connect: XdsFixture["connect"] = (method, channel) => {
    const stream = new XdsClientStream(address, method, credentials.createInsecure(), channel);
    context.after(() => stream.close());
    return stream;
  };
  return { cluster, service, scope, settings, connect, address, lines, counts, errors, elsewhere };
}
