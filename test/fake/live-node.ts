import { createServer, type Server } from "node:http";
import type { TestContext } from "node:test";
import { portOf } from "./listening.ts";
import { statusOf } from "./watched.ts";

/** A node that really serves its API, and can be changed while it does. It ends with the test. */
export class LiveNode {
  readonly name: string;
  readonly asked: string[] = [];
  /** Who is said to be a member, `name` to API address. */
  members: ReadonlyMap<string, string> = new Map();
  leader: string;
  fields: { readonly [field: string]: unknown } = {};
  #server: Server;
  #port = 0;

  constructor(name: string, leader: string) {
    this.name = name;
    this.leader = leader;
    this.#server = this.#make();
  }

  get api(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => void this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = portOf(this.#server);
  }

  /** Ends the process, as it were: connections are refused from now on. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
    this.#server = this.#make();
  }

  #make(): Server {
    return createServer((request, response) => {
      this.asked.push(request.url ?? "");
      response.shouldKeepAlive = false;
      const [status, value] = this.#answer(request.url ?? "");
      response.writeHead(status).end(value === undefined ? "" : JSON.stringify(value));
    });
  }

  #answer(path: string): readonly [number, unknown?] {
    const leads = this.leader === this.name;
    switch (path) {
      case "/leader":
        return [leads ? 200 : 503, statusOf(this.name, { role: leads ? "primary" : "replica", ...this.fields })];
      case "/cluster": {
        const members = [...this.members].map(([name, api]) => ({
          name,
          role: name === this.leader ? "leader" : "replica",
          api_url: `${api}/patroni`,
        }));
        return [200, { scope: "demo", members }];
      }
      case "/config":
        return [200, { ttl: 30 }];
      case "/history":
        return [200, []];
      case "/liveness":
        return [200];
      default:
        return [502];
    }
  }
}

/** A cluster of live nodes that know each other; the first leads. */
export async function liveCluster(context: TestContext, names: readonly string[]): Promise<readonly LiveNode[]> {
  const nodes = names.map((name) => new LiveNode(name, names[0] ?? ""));
  for (const node of nodes) await node.open();
  const members = new Map(nodes.map(({ name, api }) => [name, api]));
  for (const node of nodes) node.members = members;
  context.after(async () => {
    for (const node of nodes) await node.close();
  });
  return nodes;
}
