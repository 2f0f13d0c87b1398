/** A real HAProxy or Envoy in front of the cluster, with the configuration of one pool. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Child } from "../../test/real/lab/child.js";
/** Starts it in this folder. It is not ready yet. */
export function startBalancer(folder, { kind, path, name, configuration }) {
    const file = join(folder, `${name}.${kind === "haproxy" ? "cfg" : "yaml"}`);
    writeFileSync(file, configuration);
    const command = kind === "haproxy"
        ? [path, "-db", "-f", file]
        : [path, "-c", file, "--use-dynamic-base-id", "--concurrency", "1", "--log-level", "warn"];
    return new Child({ name: `balancer-${name}`, command, folder });
}
/** The configuration of a pool without rolecall: HAProxy asks the nodes themselves. */
export function plainHaproxy(nodes, ports, { pace, checkPort, readCheck }) {
    const pool = (kind, check) => `
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
export function withRuntimeSocket(configuration, socket) {
    return configuration.replace("global\n", `global\n  stats socket ${socket} mode 600 level admin\n`);
}
//# sourceMappingURL=balancer-process.js.map