import { isIP } from "node:net";
import { parseByteSize } from "../../cluster/values/byte-size.ts";
import type { DatabaseAddress } from "../../cluster/node.ts";
import { parseDuration } from "../../cluster/values/duration.ts";
import { isZone, zoneAllowed } from "../../cluster/values/zone.ts";
import { CommandError } from "../framework/command-error.ts";
import type { Arguments } from "../framework/arguments.ts";

/** The options for the rendered load balancers. */
export interface RenderOptions {
  readonly bind: string;
  readonly writePort: number;
  readonly readPort: number;
  /** The port on 127.0.0.1 where the load balancer forwards its own health checks to rolecall. */
  readonly checkPort: number;
  /** The port on 127.0.0.1 of the load balancer's statistics; `null`: the usual one of the load balancer. */
  readonly statsPort: number | "none" | null;
  /** The port of the agent listener of each instance; `null`: no agent checks. */
  readonly agentPort: number | null;
  /** The path of the load balancer's socket for commands, or `null`. */
  readonly runtimeSocket: string | null;
  /** Whether rolecall adds servers for nodes that join, by the printed `balancers` section. */
  readonly followsMembers: boolean;
  /** Whether what the service of the distribution needs is left out: for HAProxy started by hand, as any user. */
  readonly isBare: boolean;
  /** The lag limit of the read pool in bytes, such as `10MB`. */
  readonly lag: string;
  /** The lag limit of the read pool in time, such as `10s`; `null`: none. */
  readonly lagTime: string | null;
  /** The zone whose servers get the reads, or `null`. */
  readonly zone: string | null;
}

/** The check of the read pools. Whatever the lag is, it keeps the replica with the least (`keep=1`). */
export function readCheck({ lag, lagTime }: Pick<RenderOptions, "lag" | "lagTime">): string {
  return `/replica?lag=${lag}${lagTime === null ? "" : `&lag_time=${lagTime}`}&keep=1`;
}

/** What is rendered without options. */
export const defaultRenderOptions: RenderOptions = {
  bind: "127.0.0.1",
  writePort: 5000,
  readPort: 5001,
  checkPort: 8007,
  statsPort: null,
  agentPort: null,
  runtimeSocket: null,
  followsMembers: false,
  isBare: false,
  lag: "10MB",
  lagTime: "10s",
  zone: null,
};

/** The distance between the ports of two clusters. */
export const portStep = 10;

/**
 * Reads the options of the rendered load balancers.
 * @throws CommandError (RC001) if one is not valid
 */
export function parseRenderOptions(args: Arguments): RenderOptions {
  const defaults = defaultRenderOptions;
  const lag = args.text("lag") ?? defaults.lag;
  const lagTime = args.text("lag-time") ?? defaults.lagTime;
  const bind = (args.text("bind") ?? defaults.bind).replace(/^\[(.*)\]$/, "$1");
  // These values go into files of other programs: they must not contain syntax of those files.
  if (parseByteSize(lag) === undefined || !/^[\w.]+$/.test(lag))
    throw new CommandError("RC001", `--lag must be a size such as 16kB or 10MB, got ${JSON.stringify(lag)}`);
  if (lagTime !== null && lagTime !== "none" && parseDuration(lagTime) === undefined)
    throw new CommandError(
      "RC001",
      `--lag-time must be a duration such as 500ms or 10s, or none, got ${JSON.stringify(lagTime)}`,
    );
  if (bind !== "*" && isIP(bind) === 0)
    throw new CommandError("RC001", `--bind must be an IP address or *, got ${JSON.stringify(bind)}`);
  const runtimeSocket = args.text("runtime-socket");
  if (runtimeSocket !== null && !/^\/[\w./+-]{1,106}$/.test(runtimeSocket))
    throw new CommandError(
      "RC001",
      "--runtime-socket must be an absolute path of at most 107 letters, digits and ./+-_, " +
        `got ${JSON.stringify(runtimeSocket)}`,
    );
  const zone = args.text("zone");
  if (zone !== null && !isZone(zone))
    throw new CommandError("RC001", `--zone must be ${zoneAllowed}, got ${JSON.stringify(zone)}`);
  if (args.has("follow-members") && runtimeSocket === null)
    throw new CommandError("RC001", "--follow-members must come with --runtime-socket: rolecall adds servers there");
  if (args.has("follow-members") && zone !== null)
    throw new CommandError("RC001", "--follow-members must come without --zone: rolecall adds no servers as backups");
  const port = (name: string, fallback: number): number => args.integer(name, fallback, [1, 65_535]);
  return {
    bind,
    lag,
    lagTime: lagTime === "none" ? null : lagTime,
    runtimeSocket,
    zone,
    followsMembers: args.has("follow-members"),
    isBare: args.has("bare"),
    writePort: port("write-port", defaults.writePort),
    readPort: port("read-port", defaults.readPort),
    checkPort: port("check-port", defaults.checkPort),
    statsPort: statsPortOf(args.text("stats-port"), () => port("stats-port", 0)),
    agentPort: args.text("agent") === null ? null : args.integer("agent", 0, [1, 65_534]),
  };
}

function statsPortOf(text: string | null, port: () => number): RenderOptions["statsPort"] {
  return text === null || text === "none" ? text : port();
}

/** The ports of one cluster's pools. */
export interface PoolPorts {
  readonly write: number;
  readonly read: number;
}

/**
 * Returns the ports of every cluster's pools.
 * @param names the names of the clusters, in the order of the output
 * @param edges the instances of rolecall: one on this machine has its port too
 * @throws CommandError (RC001) if two listeners would have the same port, or if a port would be above 65535
 */
export function portsOf(
  names: readonly string[],
  options: RenderOptions,
  edges: readonly DatabaseAddress[],
): readonly PoolPorts[] {
  const claim = claimed(options, edges);
  return names.map((name, index) => ({
    write: claim(options.writePort + index * portStep, `writes to ${name}`),
    read: claim(options.readPort + index * portStep, `reads from ${name}`),
  }));
}

/**
 * Returns the port of every pool of the configuration: `--write-port`, and those after it.
 * @throws CommandError (RC001) as {@link portsOf}
 */
export function declaredPorts(
  pools: readonly string[],
  options: RenderOptions,
  edges: readonly DatabaseAddress[],
): readonly number[] {
  const claim = claimed(options, edges);
  return pools.map((name, index) => claim(options.writePort + index, `pool ${name}`));
}

/** Claims the ports of the other listeners. @returns claims one more, for an owner */
function claimed(options: RenderOptions, edges: readonly DatabaseAddress[]): (port: number, owner: string) => number {
  const local = edges.filter(({ host }) => ["127.0.0.1", "::1", "localhost"].includes(host));
  const owners = new Map(local.map(({ port }) => [port, "rolecall"]));
  const claim = (port: number, owner: string): number => {
    const other = owners.get(port);
    if (other !== undefined)
      throw new CommandError("RC001", `Ports of listeners must differ: ${other} and ${owner} are both ${port}`);
    if (port > 65_535)
      throw new CommandError("RC001", `Ports must be at most 65535: the one of ${owner} would be ${port}`);
    owners.set(port, owner);
    return port;
  };
  claim(options.checkPort, "--check-port");
  if (typeof options.statsPort === "number") claim(options.statsPort, "--stats-port");
  if (options.agentPort !== null) {
    if (local.length > 0) claim(options.agentPort, "--agent");
    if (edges.length > 1) claim(options.agentPort + 1, "the proxy of --agent");
  }
  return claim;
}
