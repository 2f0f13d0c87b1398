/** Envoy with the endpoints of its pools by push, as `rolecall render envoy --xds` sets it up for the lab's rolecall. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { envoyProgram } from "./balancer-programs.ts";
import type { Cluster } from "./cluster.ts";
import { Envoy } from "./envoy.ts";
import { ports, requireFree } from "./ports.ts";
import { program } from "./rolecall.ts";
import { until } from "../../fake/until.ts";

/** What rolecall's configuration needs for it: two pools, and the listener. */
export const pushedPools = {
  pools: [
    { name: "write", check: "/primary" },
    { name: "read", check: "/replica?lag=10MB" },
  ],
  listener: { port: ports.rolecallXds, dialect: "xds", xds: { checks: `127.0.0.1:${ports.haproxyChecks}` } },
} as const;

/** Starts the newest Envoy, and waits (20 s) until each of its pools has an endpoint for new connections. */
export async function startPushedEnvoy({ folder }: Cluster): Promise<Envoy> {
  await requireFree([ports.haproxyWrite, ports.haproxyRead, ports.haproxyChecks, ports.envoyAdmin]);
  const found = envoyProgram("newest");
  if ("notRun" in found) throw new Error(`Cannot start Envoy: ${found.notRun}`);
  const options = {
    config: join(folder, "rolecall.yaml"),
    edge: `127.0.0.1:${ports.rolecall}`,
    "write-port": ports.haproxyWrite,
    "check-port": ports.haproxyChecks,
    "stats-port": ports.envoyAdmin,
  };
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const argv = [program, "render", "envoy", "--xds", ...words];
  const bootstrap = execFileSync(process.execPath, argv, { encoding: "utf8", timeout: 20_000 });
  const envoy = await Envoy.start({ name: "envoy", path: found.path, bootstrap, adminPort: ports.envoyAdmin, folder });
  try {
    await until({ what: "Envoy with its pools", seconds: 20, evidence: () => envoy.tail }, async () => {
      const listed = await Promise.all(pushedPools.pools.map(({ name }) => envoy.endpoints(name)));
      return listed.every((endpoints) => endpoints.some((endpoint) => endpoint.endsWith(" HEALTHY")));
    });
  } catch (error) {
    await envoy.stop();
    throw error;
  }
  return envoy;
}
