/** A real HAProxy or Envoy in front of the cluster, with the configuration of one pool. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Child } from "../../test/real/lab/child.ts";

export interface BalancerFile {
  readonly kind: "haproxy" | "envoy";
  /** The program. */
  readonly path: string;
  /** The pool's name, which names the files. */
  readonly name: string;
  readonly configuration: string;
}

/** Starts it in this folder. It is not ready yet. */
export function startBalancer(folder: string, { kind, path, name, configuration }: BalancerFile): Child {
  const file = join(folder, `${name}.${kind === "haproxy" ? "cfg" : "yaml"}`);
  writeFileSync(file, configuration);
  const command =
    kind === "haproxy"
      ? ([path, "-db", "-f", file] as const)
      : ([path, "-c", file, "--use-dynamic-base-id", "--concurrency", "1", "--log-level", "warn"] as const);
  return new Child({ name: `balancer-${name}`, command, folder });
}

/** How a pool without rolecall checks its nodes. */
export interface PlainChecks {
  /** Interval and thresholds, as HAProxy spells them. */
  readonly pace: string;
  /** The port of the n-th node's health API. */
  readonly checkPort: (index: number) => number;
  readonly readCheck: string;
}

/** The configuration of a pool without rolecall: HAProxy asks the nodes themselves. */
export function plainHaproxy(
  nodes: readonly { readonly name: string; readonly databasePort: number }[],
  ports: { readonly write: number; readonly read: number },
  { pace, checkPort, readCheck }: PlainChecks,
): string {
  const pool = (kind: "write" | "read", check: string): string => `
listen ${kind}
  bind 127.0.0.1:${ports[kind]}
  option httpchk GET ${check}
  http-check expect status 200
  default-server check ${pace} on-marked-down shutdown-sessions
${nodes.map(({ name, databasePort }, at) => `  server ${name} 127.0.0.1:${databasePort} port ${checkPort(at)}`).join("\n")}
`;
  return `defaults
  mode tcp
  timeout connect 2s
  timeout client 30m
  timeout server 30m
  timeout check 2s
${pool("write", "/primary")}${pool("read", readCheck)}`;
}

/** Gives a rendered configuration of HAProxy a socket for its Runtime API. */
export function withRuntimeSocket(configuration: string, socket: string): string {
  return configuration.replace("global\n", `global\n  stats socket ${socket} mode 600 level admin\n`);
}
