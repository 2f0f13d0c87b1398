/** rolecall as an operator starts it: the built program with a configuration file. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Core } from "./machine.ts";
import { freePort } from "../test/fake/free-port.ts";
import { until } from "../test/fake/until.ts";
import { ChildProgram } from "./child-program.ts";

/** The built program, which is measured. */
export const program: string = fileURLToPath(new URL("../../dist/main.js", import.meta.url)); // from build/bench

/** The nodes of each cluster, as the programs that serve them print them. */
export type Clusters = readonly (readonly { readonly name: string; readonly url: string }[])[];

/** How to start rolecall. */
export interface RolecallOptions {
  readonly core?: Core;
  /** The `main.js` of the build. That of this checkout if left out. */
  readonly program?: string;
  /** A single executable to start in place of `program`. */
  readonly executable?: string;
  readonly health?: object;
  /** Listeners beside the health listener and the admin listener. */
  readonly listeners?: readonly object[];
  /** The port of its admin listener. A free one if left out. */
  readonly adminPort?: number;
  /** How long to wait until it is ready, in s. 30 if left out. */
  readonly readyS?: number;
  /** Is called with the base URL of its admin listener when its process has begun. The start waits for it too. */
  readonly meanwhile?: (admin: string) => Promise<void>;
  /** Variables of its environment beside those of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

export class Rolecall {
  readonly process: ChildProgram;
  readonly port: number;
  readonly adminPort: number;
  /** How long it took from its start as a process until `/readyz` was 200, in ms. */
  readonly readyMs: number;

  private constructor(process: ChildProgram, ports: readonly [number, number], readyMs: number) {
    this.process = process;
    [this.port, this.adminPort] = ports;
    this.readyMs = readyMs;
  }

  /**
   * Starts it for these clusters, named `c0` upwards, and waits until it is ready.
   * @param more keys of the configuration beside clusters and listeners; without `workers` there are none, and with
   *   `workers: undefined` as many as by default
   * @param how where it runs, which build, and keys of the health listener beside its port
   * @throws Error if it ends, with its output, or is not ready in time
   */
  static async start(clusters: Clusters, more: object = {}, how: RolecallOptions = {}): Promise<Rolecall> {
    const ports = [await freePort(), how.adminPort ?? (await freePort())] as const;
    const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
    const file = join(folder, "rolecall.json");
    const configuration = {
      clusters: clusters.map((nodes, at) => ({
        name: `c${at}`,
        nodes: nodes.map(({ name, url }) => ({ name, api: url })),
      })),
      listen: [{ port: ports[0], ...how.health }, { port: ports[1], dialect: "admin" }, ...(how.listeners ?? [])],
      log: { level: "fatal" },
      drain: "0s",
      // One process answers, however many nodes there are, unless a row is about workers.
      workers: 0,
      ...more,
    };
    writeFileSync(file, JSON.stringify(configuration)); // JSON is YAML
    const command = how.executable === undefined ? [process.execPath, how.program ?? program] : [how.executable];
    const beganMs = performance.now();
    const started = await ChildProgram.start({
      command: [...command, "serve", "--config", file],
      core: how.core ?? "measured",
      env: how.env ?? {},
    });
    void started.end().then(() => rmSync(folder, { recursive: true, force: true })); // it may load the file again
    const ready = statusOf(started, `http://127.0.0.1:${ports[0]}/readyz`, { status: 200, seconds: how.readyS });
    const [readyMs] = await Promise.all([
      ready.then(() => performance.now() - beganMs),
      how.meanwhile?.(`http://127.0.0.1:${ports[1]}`),
    ]);
    return new Rolecall(started, ports, readyMs);
  }

  /** The address of a route about one node. */
  url(route: string, node = "pg1", cluster = "c0"): string {
    return `http://127.0.0.1:${this.port}/clusters/${cluster}/nodes/${node}${route}`;
  }

  /** How many probes it has finished, by its own metric. */
  probeCount(): Promise<number> {
    return this.#sumOf("rolecall_probes_total{.*}");
  }

  /** How many bytes it got from the instances that it follows, by its own metric. */
  receivedBytes(): Promise<number> {
    return this.#sumOf("rolecall_upstream_received_bytes_total{.*}");
  }

  /** How many clusters it has from the instances that it follows, by its own metric: it probes the nodes of the others itself. */
  followedCount(): Promise<number> {
    return this.#sumOf("rolecall_followed{.*}");
  }

  /** How many clusters each member of its fleet owns. */
  async ownedCounts(): Promise<readonly number[]> {
    const { fleet } = (await (await fetch(`http://127.0.0.1:${this.adminPort}/fleet`)).json()) as {
      readonly fleet: { readonly members: readonly { readonly owns: number }[] };
    };
    return fleet.members.map(({ owns }) => owns);
  }

  /** How many reloads it has applied, by its own metric. */
  reloadCount(): Promise<number> {
    return this.#sumOf('rolecall_reloads_total{outcome="applied"}');
  }

  /** Makes it load its configuration again. */
  reload(): void {
    process.kill(this.process.pid, "SIGHUP");
  }

  async #sumOf(series: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.adminPort}/metrics`)).text();
    const values = [...text.matchAll(new RegExp(`^${series} (\\d+)$`, "gm"))].map(([, value]) => Number(value));
    return values.reduce((sum, value) => sum + value, 0);
  }

  stop(): Promise<void> {
    return this.process.stop();
  }

  /** Waits until a route of the first node has this status. Throws an Error if it ends, or after 30 s. */
  answers(route: string, status: number): Promise<void> {
    return statusOf(this.process, this.url(route), { status });
  }
}

/** Waits until a GET is answered with this status. Throws an Error if the process ends, or after 30 s. */
async function statusOf(
  child: ChildProgram,
  url: string,
  { status, seconds = 30 }: { readonly status: number; readonly seconds?: number | undefined },
): Promise<void> {
  await until({ what: `${url} answered ${status}`, seconds }, async () => {
    if (child.hasEnded) {
      const { stdout, code, stderr } = await child.end();
      throw new Error(`Cannot measure rolecall: it must run, got exit code ${code}: ${`${stdout}\n${stderr}`.trim()}`);
    }
    return hasStatus(url, status);
  });
}

/** Whether a GET of this URL is answered with this status now. */
export function hasStatus(url: string, status: number): Promise<boolean> {
  return fetch(url).then(
    (response) => response.status === status,
    () => false,
  );
}

/** Waits for some time. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
