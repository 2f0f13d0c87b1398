/**
 * A real cluster behind a HAProxy as it is rendered, a PgBouncer in front of that HAProxy, and a rolecall whose canaries
 * go through both.
 */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { listOf, objectOf } from "../../../src/core/cluster/values/json.ts";
import { freePort } from "../../fake/free-port.ts";
import { until } from "../../fake/until.ts";
import { ask } from "./ask.ts";
import { runtimeCommand } from "./audit-lab.ts";
import { Child } from "./child.ts";
import { Cluster } from "./cluster.ts";
import type { PatroniNode } from "./patroni.ts";
import { Pgbouncer } from "./pgbouncer.ts";
import { ports } from "./ports.ts";
import { psql } from "./psql.ts";
import { program, Rolecall } from "./rolecall.ts";

/** The ways of canaries: through HAProxy, and through PgBouncer to HAProxy. */
export type Road = "write" | "pooled" | "read";

/** What `/status` says of a canary. */
export interface SeenCanary {
  readonly state: string;
  readonly node: string | null;
  /** The code of the error; `null`: it did not fail. */
  readonly code: string | null;
  readonly text: string;
}

/** What `/status` says of the cluster. */
export interface Said {
  readonly canaries: Readonly<Record<Road, SeenCanary>>;
  /** The condition and the cause of `/status`. */
  readonly condition: string;
  readonly cause: string;
}

/** What the commands print. */
export interface Printed {
  readonly status: string;
  readonly explain: string;
}

const run = promisify(execFile);
const pools = { write: "orders-write", read: "orders-read" } as const;
const database = "app";
const nowhere: SeenCanary = { state: "none", node: null, code: null, text: "" };

export class CanaryLab {
  readonly cluster: Cluster;
  readonly #stops: (() => Promise<unknown>)[];
  #pgbouncer: Pgbouncer | undefined;
  #rolecall: Rolecall | undefined;
  #roads: ReadonlyMap<string, Road> = new Map();

  /** Starts everything, creates the table as its documentation says, and waits until each canary has passed. */
  static async start(patroni: readonly [string, ...string[]], pgbouncer: string): Promise<CanaryLab> {
    const cluster = await Cluster.start(patroni);
    const lab = new CanaryLab(cluster);
    try {
      await lab.#start(pgbouncer);
    } catch (error) {
      await lab.stop();
      throw error;
    }
    return lab;
  }

  private constructor(cluster: Cluster) {
    this.cluster = cluster;
    this.#stops = [() => cluster.stop()];
  }

  get pgbouncer(): Pgbouncer {
    if (this.#pgbouncer === undefined) throw new Error("Cannot use PgBouncer: it must be started, got none");
    return this.#pgbouncer;
  }

  /** A command for HAProxy about a node's server of the write pool. */
  async setServer({ name }: PatroniNode, what: string): Promise<void> {
    const answer = await runtimeCommand(this.#socket, `set server ${pools.write}/${name} ${what}`);
    if (/no such|must|unknown/i.test(answer)) throw new Error(`Cannot set the server: HAProxy answers ${answer}`);
  }

  /** A statement of the superuser on the primary. */
  async onPrimary(statement: string): Promise<string> {
    const { databasePort } = await this.cluster.leader();
    const answer = await psql(databasePort, statement, 10_000, { user: "postgres", database });
    if (answer === undefined) throw new Error(`Cannot run a statement on the primary: ${statement}`);
    return answer;
  }

  /** Lets commits wait for a synchronous standby, without end, and waits until there is one. */
  async configureSynchronous(): Promise<void> {
    const parameters = { synchronous_commit: "on" };
    await this.cluster.configure({ synchronous_mode: true, synchronous_mode_strict: true, postgresql: { parameters } });
    const isOn =
      "SELECT current_setting('synchronous_commit') = 'on' AND count(*) > 0 FROM pg_stat_replication WHERE sync_state = 'sync'";
    await until("a synchronous standby", async () => (await this.onPrimary(isOn)) === "t");
  }

  /** What `/status` says now. */
  async said(): Promise<Said> {
    const { body } = await ask({ port: this.#adminPort, path: "/status" });
    const document = objectOf(listOf(objectOf(JSON.parse(body === "" ? "{}" : body))["clusters"])[0]);
    const situation = objectOf(document["situation"]);
    const seen = listOf(document["canaries"]).map(objectOf);
    const roadOf = (one: (typeof seen)[number]): Road | undefined => this.#roads.get(String(one["target"]));
    const of = (road: Road): SeenCanary => {
      const found = seen.find((one) => roadOf(one) === road);
      if (found === undefined) return nowhere;
      const error = objectOf(found["error"] ?? {});
      const { node, state, text } = found;
      return {
        state: String(state),
        node: typeof node === "string" ? node : null,
        code: typeof error["code"] === "string" ? error["code"] : null,
        text: String(text),
      };
    };
    return {
      canaries: { write: of("write"), pooled: of("pooled"), read: of("read") },
      condition: String(situation["condition"]),
      cause: String(situation["cause"]),
    };
  }

  /** What `rolecall status` and `rolecall explain` print now. */
  async printed(): Promise<Printed> {
    return { status: await this.#printed("status"), explain: await this.#printed("explain") };
  }

  /** Waits until what is said meets a condition. */
  async says(what: string, meets: (said: Said) => boolean, seconds: number): Promise<Said> {
    let last: Said | undefined;
    const evidence = (): string => `${JSON.stringify(last, null, 2)}\n${this.#rolecall?.tail ?? ""}`;
    return until({ what, seconds, evidence }, async () => {
      last = await this.said();
      return meets(last) ? last : undefined;
    });
  }

  /** Waits until every canary passes, and the cluster is ok. */
  passes(seconds = 60): Promise<Said> {
    return this.says(
      "canaries that pass",
      ({ canaries, condition }) => Object.values(canaries).every(isPassed) && condition === "ok",
      seconds,
    );
  }

  /** Ends every process and removes all files. */
  async stop(): Promise<void> {
    for (const stop of this.#stops.toReversed()) await stop();
  }

  get #socket(): string {
    return join(this.cluster.folder, "haproxy.sock");
  }

  get #adminPort(): number {
    return ports.rolecallAdmin;
  }

  async #printed(command: string): Promise<string> {
    const argv = [program, command, "--server", `http://127.0.0.1:${this.#adminPort}`];
    // A cluster that is not ok has an exit code of its own.
    return run(process.execPath, argv, { timeout: 20_000 }).then(
      ({ stdout }) => stdout,
      ({ stdout }: { readonly stdout?: string }) => stdout ?? "",
    );
  }

  async #start(pgbouncer: string): Promise<void> {
    const [writePort, readPort] = [ports.haproxyWrite, ports.haproxyRead];
    const leader = await this.cluster.leader();
    await psql(leader.databasePort, "CREATE DATABASE app", 10_000);
    await this.onPrimary("CREATE ROLE canary LOGIN");
    const { stdout } = await run(process.execPath, [program, "canaries", "--sql", "canary"]);
    await this.onPrimary(stdout);
    this.#pgbouncer = await Pgbouncer.start({
      program: pgbouncer,
      databases: [`${database} = host=127.0.0.1 port=${writePort}`],
      users: { canary: "" },
      settings: { server_login_retry: 1 },
    });
    this.#stops.push(() => this.pgbouncer.stop());
    const roads = [
      ["write", pools.write, writePort],
      ["pooled", pools.write, this.pgbouncer.port],
      ["read", pools.read, readPort],
    ] as const;
    this.#roads = new Map(roads.map(([road, , port]) => [`127.0.0.1:${port}/${database}`, road]));
    const { rolecall: port, rolecallAdmin: adminPort } = ports;
    const healthPort = await freePort();
    this.#rolecall = await Rolecall.start(this.cluster, {
      cluster: {
        canaries: roads.map(([, pool, at]) => ({
          pool,
          url: `postgres://canary@127.0.0.1:${at}/${database}`,
          interval: "2s",
          timeout: "1500ms",
        })),
      },
      top: {
        pools: [
          { name: pools.write, check: "/primary" },
          { name: pools.read, check: "/replica?lag=10MB" },
        ],
        listen: [{ port, cluster: "demo" }, { port: adminPort, dialect: "admin" }, { port: healthPort }],
      },
    });
    this.#stops.push(async () => this.#rolecall?.stop());
    await this.#startHaproxy(healthPort);
    await this.passes();
  }

  async #startHaproxy(healthPort: number): Promise<void> {
    const { folder } = this.cluster;
    const options = {
      config: join(folder, "rolecall.yaml"),
      edge: `127.0.0.1:${healthPort}`,
      "write-port": ports.haproxyWrite,
      "check-port": ports.haproxyChecks,
      "runtime-socket": this.#socket,
      "stats-port": "none",
    };
    const argv = Object.entries(options).flatMap(([option, value]) => [`--${option}`, String(value)]);
    const { stdout } = await run(process.execPath, [program, "render", "haproxy", "--bare", ...argv]);
    const file = join(folder, "haproxy.cfg");
    writeFileSync(file, stdout);
    const child = new Child({ name: "haproxy", command: ["haproxy", "-db", "-f", file], folder });
    this.#stops.push(() => child.stop());
  }
}

/** Whether a canary has written or read. */
export function isPassed({ state }: SeenCanary): boolean {
  return state === "committed" || state === "read";
}
