/** Envoy with the endpoints of its pools by push, as `rolecall render envoy --xds` sets it up. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask } from "./ask.ts";
import { balancerPrograms } from "./balancer-programs.ts";
import { Child } from "./child.ts";
import type { Cluster } from "./cluster.ts";
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

export interface PushedEnvoyOptions {
  /** The program; default: the newest that the tests have. */
  readonly envoy?: string;
  /** The health listeners of all rolecalls. */
  readonly edges?: readonly number[];
  /** What is changed in the rendered configuration. */
  readonly change?: (rendered: string) => string;
}

/** The program of Envoy; why it cannot be had. */
export function envoyProgram(): { readonly path: string } | { readonly notRun: string } {
  return balancerPrograms().find(({ kind }) => kind === "envoy")?.found ?? { notRun: "no Envoy is known" };
}

export class PushedEnvoy {
  readonly #child: Child;

  /** Starts it with what the configuration of the lab's rolecall renders, and waits (20 s) until its pools are known. */
  static async start(
    cluster: Cluster,
    { envoy, edges = [ports.rolecall], change = (rendered) => rendered }: PushedEnvoyOptions = {},
  ): Promise<PushedEnvoy> {
    await requireFree([ports.haproxyWrite, ports.haproxyRead, ports.haproxyChecks, ports.envoyAdmin]);
    const found = envoy === undefined ? envoyProgram() : { path: envoy };
    if ("notRun" in found) throw new Error(`Cannot start Envoy: ${found.notRun}`);
    const options = {
      config: join(cluster.folder, "rolecall.yaml"),
      edge: edges.map((port) => `127.0.0.1:${port}`).join(","),
      "write-port": ports.haproxyWrite,
      "check-port": ports.haproxyChecks,
      "stats-port": ports.envoyAdmin,
    };
    const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const rendered = execFileSync(process.execPath, [program, "render", "envoy", "--xds", ...words], {
      encoding: "utf8",
    });
    const file = join(cluster.folder, "envoy.yaml");
    writeFileSync(file, change(rendered));
    const command = [found.path, "-c", file, "--log-level", "warn", "--disable-hot-restart"] as const;
    const started = new PushedEnvoy(new Child({ name: "envoy", command, folder: cluster.folder }));
    try {
      await started.#ready();
    } catch (error) {
      await started.stop();
      throw error;
    }
    return started;
  }

  private constructor(child: Child) {
    this.#child = child;
  }

  /** The end of its log. */
  get tail(): string {
    return this.#child.tail;
  }

  /** The health of the endpoints of each pool, as its admin interface shows it: `write/127.0.0.1:5432` -> `healthy`. */
  async endpoints(): Promise<ReadonlyMap<string, string>> {
    const { body } = await ask({ port: ports.envoyAdmin, path: "/clusters" });
    const lines = body.matchAll(/^(\w+)::(127\.0\.0\.1:\d+)::health_flags::(\S+)$/gm);
    return new Map(Array.from(lines, ([, pool = "", endpoint = "", health = ""]) => [`${pool}/${endpoint}`, health]));
  }

  async stop(): Promise<void> {
    await this.#child.stop("SIGTERM");
  }

  async #ready(): Promise<void> {
    await until({ what: "Envoy with its pools", seconds: 20, evidence: () => this.tail }, async () => {
      if (!this.#child.isRunning) throw new Error(`Envoy ended with code ${this.#child.exitCode}\n${this.tail}`);
      const known = [...(await this.endpoints())];
      return ["write/", "read/"].every((pool) =>
        known.some(([name, health]) => name.startsWith(pool) && health === "healthy"),
      );
    });
  }
}
