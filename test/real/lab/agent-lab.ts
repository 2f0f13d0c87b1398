/** HAProxy with agent checks of rolecall, whose health checks ask the simulated nodes themselves. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "./ask.ts";
import { Child } from "./child.ts";
import { removeAtExit } from "./reaper.ts";
import { program } from "./rolecall.ts";
import { freePort } from "../../fake/free-port.ts";
import { until } from "../../fake/until.ts";
import { startSimulator, type Simulator } from "../../../src/tools/simulator/simulator.ts";

/** How often HAProxy asks the agent, in ms. */
const agentIntervalMs = 200;

/** A server as HAProxy shows it. */
export interface ShownServer {
  readonly status: string;
  readonly weight: number;
  /** How its last agent check ended: `L7OK`, `L4CON`, … */
  readonly agent: string;
}

export class AgentLab {
  readonly folder: string = mkdtempSync(join(tmpdir(), "rolecall-agent-"));
  readonly simulator: Simulator;
  readonly #ports: { readonly health: number; readonly agent: number; readonly pool: number };
  readonly #drainBy: "weight" | "state";
  #rolecall: Child;
  #haproxy: Child | null = null;

  /** Starts everything, and waits until both replicas are up with their full weight. */
  static async start(haproxy: string, drainBy: "weight" | "state" = "weight"): Promise<AgentLab> {
    const simulator = await startSimulator({ nodes: 3, port: 0, switchoverMs: 500 });
    const ports = { health: await freePort(), agent: await freePort(), pool: await freePort() };
    const lab = new AgentLab(simulator, ports, drainBy);
    try {
      await lab.#ready();
      lab.#startHaproxy(haproxy);
      for (const node of ["pg2", "pg3"])
        await lab.shows(node, ({ status, weight }) => status === "UP" && weight === 100);
    } catch (error) {
      await lab.stop();
      throw error;
    }
    return lab;
  }

  private constructor(
    simulator: Simulator,
    ports: { health: number; agent: number; pool: number },
    drainBy: "weight" | "state",
  ) {
    this.simulator = simulator;
    this.#ports = ports;
    this.#drainBy = drainBy;
    removeAtExit(this.folder);
    this.#rolecall = this.#startRolecall();
  }

  get rolecallPid(): number {
    return this.#rolecall.pid ?? 0;
  }

  /** Ends rolecall as a signal does. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    await this.#rolecall.stop(signal);
  }

  /** Starts rolecall again. */
  async again(): Promise<void> {
    this.#rolecall = this.#startRolecall();
    await this.#ready();
  }

  /** Waits until HAProxy shows a server so. */
  shows(node: string, isWanted: (server: ShownServer) => boolean): Promise<ShownServer> {
    let last: ShownServer | undefined;
    const evidence = (): string => `${JSON.stringify(last)}\n${this.#haproxy?.tail}\n${this.#rolecall.tail}`;
    return until({ what: `${node} as wanted: ${String(isWanted)}`, seconds: 15, evidence }, async () => {
      last = await this.server(node);
      return isWanted(last) ? last : undefined;
    });
  }

  /** Waits until rolecall answers the check of a node so, and HAProxy has asked its agent again since. */
  async judges(node: string, status: number): Promise<void> {
    const { health } = this.#ports;
    const path = `/nodes/${node}/replica?lag=2MB`;
    await until(`${status} of ${path}`, async () => (await ask({ port: health, path })).status === status);
    await sleep(3 * agentIntervalMs);
  }

  /** A server of the pool, as `show stat` lists it. */
  async server(node: string): Promise<ShownServer> {
    const [head = "", ...rows] = (await this.command("show stat")).trim().split("\n");
    const columns = head.replace(/^# /, "").split(",");
    const cells = rows.map((row) => row.split(",")).find(([pool, name]) => pool === "read" && name === node) ?? [];
    const cell = (column: string): string => cells[columns.indexOf(column)] ?? "";
    return { status: cell("status"), weight: Number(cell("weight")), agent: cell("agent_status").replace("* ", "") };
  }

  /** Sends a command of an operator to HAProxy. */
  command(line: string): Promise<string> {
    const connection = connect(join(this.folder, "haproxy.sock"));
    connection.setTimeout(2_000, () => connection.destroy(new Error("HAProxy's socket is silent")));
    connection.end(`${line}\n`);
    return text(connection).catch(() => ""); // not there yet
  }

  async stop(): Promise<void> {
    await this.#haproxy?.stop();
    await this.#rolecall.stop("SIGKILL");
    await this.simulator.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #ready(): Promise<void> {
    const wait = { what: "ready rolecall", seconds: 15, evidence: () => this.#rolecall.tail };
    await until(wait, async () => (await ask({ port: this.#ports.health, path: "/readyz" })).status === 200);
  }

  #startRolecall(): Child {
    const { health, agent } = this.#ports;
    const weight = { full: "1s", none: "5s", floor: 5 };
    const configuration = {
      clusters: [{ name: "demo", nodes: this.simulator.nodes.map(({ name, url }) => ({ name, api: url })) }],
      probe: { interval: "200ms" },
      drain: "2s",
      listen: [
        { port: health },
        { port: agent, dialect: "agent", check: "/replica?lag=2MB", weight, drain_by: this.#drainBy },
      ],
    };
    const file = join(this.folder, "rolecall.yaml");
    writeFileSync(file, JSON.stringify(configuration)); // JSON is YAML
    const command = [process.execPath, program, "serve", "--config", file] as const;
    return new Child({ name: "rolecall", command: [...command], folder: this.folder });
  }

  #startHaproxy(haproxy: string): void {
    const { agent, pool } = this.#ports;
    const servers = this.simulator.nodes.map(
      ({ name, url }) =>
        `  server ${name} 127.0.0.1:${new URL(url).port} check inter 200ms rise 1 fall 2 weight 100 ` +
        `agent-check agent-addr 127.0.0.1 agent-port ${agent} agent-inter ${agentIntervalMs}ms agent-send "demo/${name}\\n"`,
    );
    const lines = [
      "global",
      `  stats socket ${join(this.folder, "haproxy.sock")} mode 600 level admin`,
      "defaults",
      "  mode tcp",
      "  timeout connect 1s",
      "  timeout client 5s",
      "  timeout server 5s",
      "  timeout check 1s",
      "listen read",
      `  bind 127.0.0.1:${pool}`,
      "  balance roundrobin",
      "  option httpchk GET /replica",
      "  http-check expect status 200",
      ...servers,
    ];
    const file = join(this.folder, "haproxy.cfg");
    writeFileSync(file, `${lines.join("\n")}\n`);
    this.#haproxy = new Child({ name: "haproxy", command: [haproxy, "-db", "-f", file], folder: this.folder });
  }
}
