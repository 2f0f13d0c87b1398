import type { TestContext } from "node:test";
import type { ClusterConfig } from "../../src/core/config/model/config.ts";
import { ClusterProber } from "../../src/core/probe/cluster-prober.ts";
import type { NodeReply } from "../../src/core/probe/client/client.ts";
import { ClusterFixture, type FixtureOptions } from "./cluster-fixture.ts";
import { FakeTransport, failedReply, jsonReply } from "./fake-transport.ts";
import { statusDocument, type StatusFields } from "./node-documents.ts";

/** A server at an address: what it states of itself, and the member list that it gives. */
export interface ScriptedServer {
  /** The name that it states; `null` for a version that states none. */
  readonly states: string | null;
  readonly holdsLock?: boolean;
  /** Member -> host, or `null` for a row without a usable address. A request hangs if there is no list. */
  readonly lists?: Readonly<Record<string, string | null>>;
  /** The member that its list names as the leader. */
  readonly names?: string;
  readonly fields?: StatusFields;
  readonly scope?: string;
  /** How long each answer takes, in ms. */
  readonly delayMs?: number;
}

/** The hosts of the members of an honest cluster. */
export const truth = { pg1: "a", pg2: "b", pg3: "c" };
const list = { lists: truth, names: "pg2" };
/** The servers of that cluster by host. pg2 leads. */
export const honest: Readonly<Record<string, ScriptedServer>> = {
  a: { states: "pg1", ...list },
  b: { states: "pg2", holdsLock: true, ...list },
  c: { states: "pg3", ...list },
};

const timeoutMs = 2_500;

/** The servers of a network by host. What has no server refuses connections; `hangs` never answers. */
export class ScriptedServers {
  readonly servers = new Map<string, ScriptedServer | "hangs">();
  readonly #transport: FakeTransport;
  readonly prober: ClusterProber;

  /**
   * Starts to probe a cluster that is discovered from the hosts of `discover`.
   * @param restored a state that an earlier run has saved
   */
  constructor(
    context: TestContext,
    {
      discover,
      servers,
      options = {},
    }: {
      readonly discover: readonly string[];
      readonly servers: Readonly<Record<string, ScriptedServer | "hangs">>;
      readonly options?: FixtureOptions & { readonly cluster?: Partial<ClusterConfig> };
    },
  ) {
    for (const [host, server] of Object.entries(servers)) this.servers.set(host, server);
    const seeds = discover.map((host) => `http://${host}:8008`);
    const fixture = new ClusterFixture({
      nodes: [],
      isStarting: true,
      policy: { intervalMs: 1_000, timeoutMs, maxAgeMs: 5_500, viewMaxAgeMs: 3 * 3_000 + timeoutMs },
      ...options,
      cluster: { discover: seeds, ...options.cluster },
    });
    this.#transport = new FakeTransport(context, fixture, (origin, path) => this.#answer(origin, path));
    this.prober = new ClusterProber(this.#transport.context());
    this.#transport.onState = (before, after) => this.prober.onChange(before, after);
    context.after(() => this.prober.stop());
    void this.prober.start();
  }

  /** Lets time pass, in ms. */
  async pass(ms: number): Promise<void> {
    await this.#transport.advance(ms, ms > 3_000 ? 250 : 50);
  }

  /** What became of each member: its host and the verdict of a check, as `b fit`. */
  found(check = "health"): Readonly<Record<string, string>> {
    const { fixture, nowMs } = this.#transport;
    return Object.fromEntries(
      fixture.cluster.nodes.map(({ node }) => [
        node.name,
        `${node.api === null ? "-" : new URL(node.api).hostname} ${fixture.judge(node.name, check, nowMs)}`,
      ]),
    );
  }

  get fixture(): ClusterFixture {
    return this.#transport.fixture;
  }

  get nowMs(): number {
    return this.#transport.nowMs;
  }

  /** The requests to a host so far. @param path only those for it */
  requestsTo(host: string, path: string | null = null): number {
    const isCounted = ({ hostname, pathname }: URL): boolean => hostname === host && pathname === (path ?? pathname);
    return this.#transport.sent.filter(({ url }) => isCounted(new URL(url))).length;
  }

  /** Decides how intervals vary, from 0 up to 1. */
  set random(value: number) {
    this.#transport.random = value;
  }

  #answer(origin: string, path: string): NodeReply | Promise<NodeReply> {
    const server = this.servers.get(new URL(origin).hostname);
    if (server === undefined) return failedReply("refused");
    const delayMs = server === "hangs" ? Infinity : (server.delayMs ?? 0);
    const reply = server === "hangs" ? null : replyOf(server, path);
    if (reply !== null && delayMs === 0) return reply;
    return new Promise((resolve) => {
      if (reply === null || delayMs >= timeoutMs) setTimeout(() => resolve(failedReply("timeout")), timeoutMs);
      else setTimeout(() => resolve(reply), delayMs);
    });
  }
}

/** @returns `null` if the request hangs */
function replyOf(server: ScriptedServer, path: string): NodeReply | null {
  const { states, holdsLock = false, lists, names, fields = {}, scope = "demo" } = server;
  if (path === "/leader") {
    const patroni = states === null ? { version: "3.0.2", scope } : { version: "4.1.4", scope, name: states };
    return jsonReply(
      statusDocument(states ?? "", { role: holdsLock ? "primary" : "replica", patroni, ...fields }),
      holdsLock ? 200 : 503,
    );
  }
  if (path === "/liveness") return { status: 200, body: Buffer.alloc(0) };
  if (path !== "/cluster") return path === "/config" ? jsonReply({ ttl: 30 }) : jsonReply([]);
  if (lists === undefined) return null;
  const members = Object.entries(lists).map(([name, host]) => ({
    name,
    role: name === names ? "leader" : "replica",
    state: "running",
    api_url: host === null ? "http://:8008/patroni" : `http://${host}:8008/patroni`,
    host: host ?? undefined,
    port: 5432,
  }));
  return jsonReply({ scope, members });
}
