/** A real Envoy, and what its admin interface says about the endpoints of its clusters. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { listOf, objectOf } from "../../../src/core/cluster/values/json.ts";
import { ask } from "./ask.ts";
import { Child } from "./child.ts";
import { until } from "../../fake/until.ts";

export interface EnvoyOptions {
  readonly name: string;
  /** The program. */
  readonly path: string;
  readonly bootstrap: string;
  /** The port of the admin interface in the bootstrap. */
  readonly adminPort: number;
  readonly folder: string;
}

export class Envoy {
  readonly #child: Child;
  readonly #adminPort: number;

  /** Starts one and waits (20 s) until its admin interface answers. */
  static async start(options: EnvoyOptions): Promise<Envoy> {
    const envoy = new Envoy(options);
    const wait = { what: `Envoy ${options.name}`, evidence: () => envoy.tail };
    try {
      await until(wait, async () => (await ask({ port: options.adminPort, path: "/server_info" })).status === 200);
    } catch (error) {
      await envoy.stop();
      throw error;
    }
    return envoy;
  }

  private constructor({ name, path, bootstrap, adminPort, folder }: EnvoyOptions) {
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, bootstrap);
    // With hot restart, an Envoy ends when the process that started it ends.
    const more = ["--disable-hot-restart", "--concurrency", "1", "--log-level", "warn"];
    this.#child = new Child({ name, command: [path, "-c", file, ...more], folder });
    this.#adminPort = adminPort;
  }

  /** The endpoints of a cluster, such as `127.0.0.1:5432 HEALTHY`, in order: the health is that of EDS. */
  async endpoints(cluster: string): Promise<readonly string[]> {
    const { body } = await ask({ port: this.#adminPort, path: "/clusters?format=json" });
    if (body === "") return [];
    const clusters = listOf(objectOf(JSON.parse(body))["cluster_statuses"]).map(objectOf);
    const found = clusters.find(({ name }) => name === cluster);
    return listOf(found?.["host_statuses"]).map(endpointText).toSorted();
  }

  get tail(): string {
    return this.#child.tail;
  }

  async stop(): Promise<void> {
    await this.#child.stop("SIGTERM", 5);
  }
}

function endpointText(status: unknown): string {
  const { address, health_status: health } = objectOf(status);
  const { address: host, port_value: port } = objectOf(objectOf(address)["socket_address"]);
  return `${String(host)}:${String(port)} ${String(objectOf(health)["eds_health_status"])}`;
}
