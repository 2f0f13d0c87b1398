/** The audit of a rolecall that runs in the process of a test, over fake nodes and servers that stand for databases. */
import { mkdtempSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { App } from "../../../src/app/app.ts";
import { listOf, objectOf } from "../../../src/core/cluster/values/json.ts";
import type { Config } from "../../../src/core/config/model/config.ts";
import { clusterOf, configOf, listenerOf, nodeOf } from "../../fake/config.ts";
import { type FakeNode, openFakeCluster } from "../../fake/fake-node.ts";
import { silentLogger } from "../../fake/silent-logger.ts";
import { until } from "../../fake/until.ts";
import { EchoDatabase, EchoSession } from "./echo-database.ts";
import { removeAtExit } from "./reaper.ts";

/** A cluster of three nodes in which pg1 leads, and an audit of some targets. */
export class AuditLab {
  readonly nodes: readonly FakeNode[];
  readonly #app: App;

  static async start(context: TestContext, databases: readonly number[], parts: Partial<Config>): Promise<AuditLab> {
    const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
    const fixed = nodes.map(({ name, api }, at) =>
      nodeOf({ name, api, database: { host: "127.0.0.1", port: databases[at] ?? 0 } }),
    );
    const app = new App(
      configOf({
        clusters: [clusterOf({ nodes: fixed })],
        listen: [listenerOf({ dialect: "admin" })],
        audit: { intervalMs: 5_000, envoys: [] },
        ...parts,
      }),
      silentLogger,
    );
    context.after(() => app.stop({ drains: false }));
    await app.start();
    return new AuditLab(nodes, app);
  }

  private constructor(nodes: readonly FakeNode[], app: App) {
    this.nodes = nodes;
    this.#app = app;
  }

  lead(leader: string): void {
    for (const node of this.nodes) node.leader = leader;
  }

  /** What is found, such as `misrouted pg1`. */
  async found(): Promise<readonly string[]> {
    const document = await this.#get("/audit");
    return listOf(document["findings"])
      .map(objectOf)
      .map(({ finding, node }) => `${String(finding)} ${String(node)}`)
      .toSorted();
  }

  /** What is found, in words. */
  async words(): Promise<readonly string[]> {
    const document = await this.#get("/audit");
    return listOf(document["findings"])
      .map(objectOf)
      .map(
        (one) => `${String(one["finding"])} ${String(one["backend"])}/${String(one["server"])} ${String(one["what"])}`,
      );
  }

  /** Waits until these are the kinds of the events about the routes. */
  async records(wanted: readonly string[]): Promise<void> {
    let kinds: readonly string[] = [];
    const evidence = (): string => kinds.join(", ");
    await until({ what: `events: ${wanted.join(", ")}`, evidence }, async () => {
      const document = await this.#get("/events");
      kinds = listOf(document["events"]).map((event) => String(objectOf(event)["kind"]));
      kinds = kinds.filter((kind) => kind.startsWith("routes_"));
      return JSON.stringify(kinds) === JSON.stringify(wanted);
    });
  }

  async looked(): Promise<void> {
    await until("a look at every target", async () =>
      listOf((await this.#get("/audit"))["targets"]).every((target) => objectOf(target)["up"] === true),
    );
  }

  /** Waits until exactly this is found. */
  async finds(wanted: readonly string[], seconds: number): Promise<void> {
    let last: readonly string[] = [];
    const evidence = (): string => last.join(", ");
    await until({ what: `findings: ${wanted.join(", ") || "none"}`, seconds, evidence }, async () => {
      last = await this.found();
      return JSON.stringify(last) === JSON.stringify(wanted);
    });
  }

  async #get(path: string): Promise<ReturnType<typeof objectOf>> {
    const port = this.#app.listeners[0]?.port ?? 0;
    return objectOf(await (await fetch(`http://127.0.0.1:${port}${path}`)).json());
  }
}

/** A folder that is removed at the end. */
export function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-audit-"));
  removeAtExit(folder);
  return folder;
}

/** Servers that stand for the databases of pg1, pg2 and pg3. */
export async function echoDatabases(context: TestContext): Promise<readonly EchoDatabase[]> {
  const databases = await Promise.all(["pg1", "pg2", "pg3"].map((name) => EchoDatabase.start(name)));
  context.after(() => Promise.all(databases.map((database) => database.stop())));
  return databases;
}

/** Waits until a balancer takes sessions, and opens some. */
export async function sessionsAt(port: number, count: number): Promise<readonly EchoSession[]> {
  const open = (): Promise<EchoSession | undefined> => EchoSession.open(port);
  await until("a session", async () => {
    const session = await open();
    session?.close();
    return session !== undefined;
  });
  const sessions = await Promise.all(Array.from({ length: count }, open));
  return sessions.filter((session) => session !== undefined);
}

/** Sends a command to the Runtime API of an HAProxy. */
export async function runtimeCommand(socket: string, command: string): Promise<string> {
  const connection = connect(socket);
  connection.end(`${command}\n`);
  return text(connection);
}
