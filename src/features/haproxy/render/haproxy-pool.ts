import { CommandError } from "../../../core/command/framework/command-error.ts";
import { declaredPorts, portsOf, readCheck, type RenderOptions } from "../../../core/command/render/options.ts";
import type { TargetCluster, TargetPool, Targets } from "../../../core/command/render/targets.ts";

/** A pool, and the sections of HAProxy that it has. */
export interface HaproxyPool {
  readonly cluster: string;
  /** `write`: at most one node is fit. */
  readonly kind: "write" | "read";
  /** Whether the configuration of rolecall declares it. */
  readonly isDeclared: boolean;
  /** Whether weights of its servers follow lag: percentages of 100. */
  readonly isWeighted: boolean;
  readonly frontend: string;
  /** `…_direct` and `…_api` are the names of the fallback. */
  readonly backend: string;
  readonly port: number;
  /** The check that HAProxy sends. */
  readonly check: string;
  readonly agentCheck: string;
  /** The check that HAProxy sends to the nodes themselves while no rolecall is ready. */
  readonly directCheck: string;
  /** What `balancers` refers to it by. */
  readonly judgedBy: Readonly<Record<string, string>>;
}

/**
 * The pools of the configuration, else two of each cluster: `C_write` and `C_read`, behind the frontends `C_writes` and
 * `C_reads`. No suffix ends with another one, so the names of different clusters never meet.
 * @throws CommandError (RC001) if two listeners would have the same port, or two sections the same name
 */
export function haproxyPools(targets: Targets, options: RenderOptions): readonly HaproxyPool[] {
  const { clusters, edges, pools } = targets;
  if (pools === null) {
    const names = clusters.map(({ name }) => name);
    const ports = portsOf(names, options, edges);
    return clusters.flatMap((cluster, at) => builtInPools(cluster, ports[at] ?? { write: 0, read: 0 }, options));
  }
  const ports = declaredPorts(
    pools.map(({ name }) => name),
    options,
    edges,
  );
  const declared = pools.map((pool, at) => declaredPool(pool, ports[at] ?? 0, options));
  requireDistinctSections(declared);
  return declared;
}

function builtInPools(
  { name: cluster }: TargetCluster,
  ports: Readonly<Record<HaproxyPool["kind"], number>>,
  options: RenderOptions,
): readonly HaproxyPool[] {
  const of = (kind: HaproxyPool["kind"], check: string): Omit<HaproxyPool, "directCheck" | "agentCheck"> => ({
    cluster,
    kind,
    isDeclared: false,
    isWeighted: kind === "read" && options.agentPort !== null,
    frontend: `${cluster}_${kind}s`,
    backend: `${cluster}_${kind}`,
    port: ports[kind],
    check,
    judgedBy: { cluster, check },
  });
  const read = readCheck(options);
  return [
    { ...of("write", "/primary"), agentCheck: "/primary", directCheck: "/primary" },
    { ...of("read", `${read}&miss=404`), agentCheck: read, directCheck: `/replica?lag=${options.lag}` },
  ];
}

function declaredPool(
  { name, cluster, check, isOfPrimary, isWeighted, balancedCheck }: TargetPool,
  port: number,
  { agentPort }: RenderOptions,
): HaproxyPool {
  return {
    cluster,
    kind: isOfPrimary ? "write" : "read",
    isDeclared: true,
    isWeighted: !isOfPrimary && (isWeighted || agentPort !== null),
    frontend: `${name}_in`,
    backend: name,
    port,
    check: plainText(balancedCheck),
    agentCheck: plainText(check),
    directCheck: plainText(directCheckOf(check)),
    judgedBy: { pool: name },
  };
}

/** The parameters that Patroni's own checks have, too. */
function directCheckOf(check: string): string {
  const [path = "", query = ""] = check.split("?", 2);
  const known = query.split("&").filter((parameter) => /^(?:lag|replication_state|tag_[^=]*)=/.test(parameter));
  return known.length === 0 ? path : `${path}?${known.join("&")}`;
}

/** Encodes what HAProxy would read as syntax. */
function plainText(check: string): string {
  return check.replaceAll(/[^\w./?&=%,:@~+-]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join(""),
  );
}

/** The sections that the file has anyway. */
const ownSections = ["rolecall", "rolecall_ready", "rolecall_agent", "stats"];

function requireDistinctSections(pools: readonly HaproxyPool[]): void {
  const owners = new Map(ownSections.map((section) => [section, "rolecall itself"]));
  for (const { frontend, backend } of pools)
    for (const section of [frontend, backend, `${backend}_direct`, `${backend}_api`]) {
      const other = owners.get(section);
      if (other !== undefined)
        throw new CommandError(
          "RC001",
          `Sections of HAProxy must have different names: ${other} and pool ${backend} would both have ${section}`,
        );
      owners.set(section, `pool ${backend}`);
    }
}
