/** rolecall as an operator starts it: the built program and a file. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Core } from "./machine.ts";
import { Started } from "./started.ts";

/** The built program: the measured one. */
export const program: string = fileURLToPath(new URL("../../dist/main.js", import.meta.url)); // from build/bench

/** Nodes of clusters, as the children that serve them tell. */
export type Clusters = readonly (readonly { readonly name: string; readonly url: string }[])[];

/** How a rolecall of the bench is started. */
export interface Start {
  readonly core?: Core;
  /** The build's `main.js`; the built one of this checkout where it is left out. */
  readonly program?: string;
  readonly health?: object;
}

export class Rolecall {
  readonly process: Started;
  readonly port: number;
  readonly adminPort: number;

  private constructor(process: Started, ports: readonly [number, number]) {
    this.process = process;
    [this.port, this.adminPort] = ports;
  }

  /**
   * Starts it for these clusters, `c0` upwards, and waits until it is ready.
   * @param more keys of the configuration beside clusters and listeners
   * @param how where it runs, which build, and keys of the health listener beside its port
   * @throws Error when it ends, with what it wrote, or is not ready within 30 s
   */
  static async start(clusters: Clusters, more: object = {}, how: Start = {}): Promise<Rolecall> {
    const ports = [await freePort(), await freePort()] as const;
    const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
    const file = join(folder, "rolecall.json");
    const configuration = {
      clusters: clusters.map((nodes, at) => ({
        name: `c${at}`,
        nodes: nodes.map(({ name, url }) => ({ name, api: url })),
      })),
      listen: [
        { port: ports[0], ...how.health },
        { port: ports[1], dialect: "admin" },
      ],
      log: { level: "fatal" },
      drain: "0s",
      ...more,
    };
    writeFileSync(file, JSON.stringify(configuration)); // JSON is YAML
    try {
      const started = await Started.start({
        command: [process.execPath, how.program ?? program, "serve", "--config", file],
        core: how.core ?? "measured",
      });
      const rolecall = new Rolecall(started, ports);
      await rolecall.#until(`http://127.0.0.1:${ports[0]}/readyz`, 200);
      return rolecall;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  /** The address of a route about one node. */
  url(route: string, node = "pg1", cluster = "c0"): string {
    return `http://127.0.0.1:${this.port}/clusters/${cluster}/nodes/${node}${route}`;
  }

  /** How many askings of nodes are over, by its own count. */
  async askings(): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.adminPort}/metrics`)).text();
    return [...text.matchAll(/^rolecall_probes_total\{.*\} (\d+)$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  }

  stop(): Promise<void> {
    return this.process.stop();
  }

  /** Waits until a route about the first node is answered so. @throws Error when it ends, or is not within 30 s */
  answers(route: string, status: number): Promise<void> {
    return this.#until(this.url(route), status);
  }

  async #until(url: string, status: number): Promise<void> {
    const endMs = performance.now() + 30_000;
    for (;;) {
      const isSo = await fetch(url).then(
        (response) => response.status === status,
        () => false,
      );
      if (isSo) return;
      if (this.process.hasEnded) {
        const { said, code, complaint } = await this.process.end();
        throw new Error(
          `Cannot measure rolecall as it must run: it ended with ${code}: ${`${said}\n${complaint}`.trim()}`,
        );
      }
      if (performance.now() > endMs) {
        await this.stop();
        throw new Error(`Cannot measure rolecall as ${url} must be answered ${status} within 30 s: it is not`);
      }
      await pause(100);
    }
  }
}

/** Waits; a measurement needs its time. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}
