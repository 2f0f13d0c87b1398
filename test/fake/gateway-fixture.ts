import { PassThrough } from "node:stream";
import { pino } from "pino";
import { App } from "../../src/app/app.ts";
import type { ClusterConfig, Config, ListenerConfig, NodeConfig } from "../../src/core/config/model/config.ts";
import { unrestrictedAccess, type ListenerAccess } from "../../src/core/config/model/listener-access-config.ts";
import { startSimulator, type Simulator, type SimulatorOptions } from "../../src/tools/simulator/simulator.ts";
import { sendRequest, type HttpAnswer, type RequestParts } from "./http-request.ts";
import { until } from "./until.ts";
import { clusterOf, configOf, listenerOf } from "./config.ts";

/**
 * A simulated cluster with rolecall in front of it: one listener with the access rules under test, one admin listener,
 * one for checks.
 */
export interface GatewayFixture {
  readonly simulator: Simulator;
  readonly app: App;
  /** Base address of the listener with those rules. */
  readonly url: string;
  readonly adminUrl: string;
  /** Base address of a listener that only answers checks, without authentication. */
  readonly checksUrl: string;
  /** All log records. */
  readonly logRecords: readonly Readonly<Record<string, unknown>>[];
  request(path: string, parts?: RequestParts): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface GatewayFixtureOptions {
  readonly simulator?: Partial<SimulatorOptions>;
  readonly access?: Partial<ListenerAccess>;
  readonly listener?: Partial<ListenerConfig>;
  readonly cluster?: Partial<ClusterConfig>;
  readonly hostSuffixes?: readonly string[];
  readonly config?: Partial<Pick<Config, "poolers" | "peers" | "stateFile">>;
}

/** Like {@link gatewayFixture}, but in front of the test's own nodes: they are configured, none is discovered. */
export async function gatewayFixtureOf(
  nodes: readonly NodeConfig[],
  options: Omit<GatewayFixtureOptions, "simulator"> = {},
): Promise<Omit<GatewayFixture, "simulator">> {
  return open(options, clusterOf({ nodes, ...options.cluster }));
}

/** Builds it on free ports. Waits until there is a leader and the dynamic configuration is known. */
export async function gatewayFixture(options: GatewayFixtureOptions = {}): Promise<GatewayFixture> {
  const simulator = await startSimulator({ nodes: 3, port: 0, switchoverMs: 60, ...options.simulator });
  const gateway = await open(
    options,
    clusterOf({ discover: simulator.nodes.map(({ url }) => url), ...options.cluster }),
  );
  const close = async (): Promise<void> => {
    await gateway.close();
    await simulator.stop();
  };
  return { ...gateway, simulator, close };
}

async function open(
  options: GatewayFixtureOptions,
  cluster: ClusterConfig,
): Promise<Omit<GatewayFixture, "simulator">> {
  const log: Record<string, unknown>[] = [];
  const lines = new PassThrough();
  lines.on("data", (line: Buffer) => log.push(JSON.parse(line.toString()) as Record<string, unknown>));
  const access = { ...unrestrictedAccess, management: true, ...options.access };
  const listen = [
    listenerOf({ cluster: "demo", access, ...options.listener }),
    listenerOf({ dialect: "admin", address: "127.0.0.2" }),
    listenerOf({ cluster: "demo", address: "127.0.0.3" }),
  ];
  const app = new App(
    configOf({ clusters: [cluster], listen, hostSuffixes: options.hostSuffixes ?? [], ...options.config }),
    pino({}, lines),
  );
  await app.start();
  const scheme = access.tls === null ? "http" : "https";
  const port = (at: number): number => app.listeners[at]?.port ?? 0;
  const url = `${scheme}://127.0.0.1:${port(0)}`;
  const admin = `http://127.0.0.2:${port(1)}`;
  const questions = `http://127.0.0.3:${port(2)}`;
  await until({ what: "a leader and the configuration", seconds: 8 }, async () => {
    const paths = ["/clusters/demo/primary", "/clusters/demo/config"];
    const answers = await Promise.all(paths.map((path) => sendRequest(`${questions}${path}`)));
    return answers.every(({ status }) => status === 200);
  });
  const close = (): Promise<void> => app.stop({ drains: false });
  return {
    app,
    url,
    adminUrl: admin,
    checksUrl: questions,
    logRecords: log,
    request: (path, parts) => sendRequest(`${url}${path}`, parts),
    close,
  };
}
