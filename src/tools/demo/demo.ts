import { ServingProcess } from "../../app/serving-process.ts";
import type { OpenListener } from "../../core/http/listener/listener-set.ts";
import { ListenError } from "../../core/http/listener/listen-error.ts";
import { loadedFrom } from "../../app/client/configuration.ts";
import { defaultServers } from "../../core/command/connect/listener-finder.ts";
import { demoSources } from "./demo-configuration.ts";
import { demoTtlSeconds, startDemoClusters, usualPorts, type DemoClusters } from "./demo-clusters.ts";
import { renderDemoBanner } from "./demo-banner.ts";
import { aliasOfProgram } from "./program-command.ts";
import { serverOption } from "./server-option.ts";
import { tourOf, type DemoAddresses } from "./tour.ts";
import { findFreePort } from "./usual-ports.ts";
import type { CommandContext } from "../../core/command/framework/command-context.ts";
import { CommandError } from "../../core/command/framework/command-error.ts";
import { untilAborted } from "../../core/command/framework/until-aborted.ts";

/** The most clusters of a demo: each is three HTTP servers in this process. */
const clustersMax = 100;

/**
 * `rolecall demo`: simulates clusters and serves their health checks in this process, on loopback ports only, until a
 * signal ends it or the reader of its output is gone. Each of these counts as success, also while it starts. A demo
 * that cannot start has findings, and no completed service.
 */
export async function demo(context: CommandContext): Promise<void> {
  const { args, result, signal } = context;
  const count = args.integer("clusters", 1, [1, clustersMax]);
  const port = args.text("port") === null ? null : args.integer("port", 0, [0, 65_535]);
  const clusters = await startDemoClusters(count, port);
  try {
    const hasServed = signal.aborted || (await serveDemo(context, clusters, port));
    if (hasServed) result.cover("service", "complete", { detail: `ended by ${String(signal.reason)}` });
  } finally {
    await clusters.stop();
  }
}

/**
 * Serves the clusters until the command must end.
 * @param port that of the health listener; `null`: the usual one
 * @returns whether it served: `false` if the configuration has problems, which are findings then
 * @throws CommandError (RC107) if a listener cannot be opened
 */
async function serveDemo(context: CommandContext, clusters: DemoClusters, port: number | null): Promise<boolean> {
  const { args, result, print, signal } = context;
  const health = port ?? (await findFreePort(usualPorts.health));
  const sources = demoSources({
    clusters: clusters.clusters,
    health,
    admin: port === 0 ? 0 : await findFreePort(usualPorts.admin, health),
    logLevel: args.text("log-level") ?? undefined,
  });
  const loaded = loadedFrom(sources, result);
  if (loaded === null) return false;
  const serving = await ServingProcess.create({ config: loaded.config, sources, inheritedSockets: [] });
  try {
    await serving.start();
    const addresses = addressesOf(context, clusters, serving.listeners);
    result.data = { health: addresses.health, admin: addresses.admin, faults: addresses.control };
    if (!signal.aborted) print(bannerOf(context, clusters, addresses));
    await untilAborted(signal);
    print("\nStopped.\n");
    return true;
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    const stop = `stop the process that uses it (ss -ltnp 'sport = :${error.listener.port}')`;
    throw new CommandError("RC107", error.message, `Choose another port with --port, or ${stop}.`);
  } finally {
    await serving.stop({ drains: false });
  }
}

function addressesOf(
  { io }: CommandContext,
  { clusters, control }: DemoClusters,
  listeners: readonly OpenListener[],
): DemoAddresses {
  const urlOf = (dialect: "node" | "admin"): string => {
    const listener = listeners.find(({ config }) => config.dialect === dialect);
    return `http://127.0.0.1:${String(listener?.port ?? 0)}`;
  };
  const [health, admin] = [urlOf("node"), urlOf("admin")];
  const [first] = clusters;
  return {
    health,
    admin,
    control: control.url,
    nodes: first?.nodes ?? [],
    cluster: clusters.length === 1 ? null : (first?.scope ?? null),
    toHealth: serverOption(health, defaultServers.node, io.env),
    toAdmin: serverOption(admin, defaultServers.admin, io.env),
    ttlSeconds: demoTtlSeconds,
  };
}

function bannerOf({ io, args }: CommandContext, { clusters }: DemoClusters, addresses: DemoAddresses): string {
  const count = clusters.length;
  const level = args.text("log-level");
  return renderDemoBanner(addresses, tourOf(addresses), {
    title:
      count === 1
        ? "rolecall demo: a simulated cluster of three nodes, and rolecall in front of it."
        : `rolecall demo: ${String(count)} simulated clusters of three nodes, demo to demo${String(count)}.`,
    setup: aliasOfProgram(process.argv[1] ?? "", io.env["PATH"] ?? ""),
    log: level === null ? "Log: warnings and errors only (--log-level info shows everything)." : `Log: level ${level}.`,
  });
}
