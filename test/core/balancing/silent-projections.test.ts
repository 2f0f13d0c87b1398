/**
 * What is not known is never "none" (rule 16): each projection of a pool, in each state in which rolecall does not know
 * something. A projection shows the nodes that clients are sent to; `-` stands for a projection that says nothing, so
 * that whoever reads it goes on with what it has.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fitNodesAfter, type FitNode } from "../../../src/cli/watch/fit-nodes.ts";
import { parseCheck } from "../../../src/core/health/check.ts";
import { viewAt } from "../../../src/core/health/evidence/leadership/cluster-view.ts";
import { routeOf } from "../../../src/core/health/route.ts";
import { answerPools, type PoolsApiContext } from "../../../src/core/http/admin-api/pools-api.ts";
import { PoolMemory } from "../../../src/core/http/admin-api/pool-memory.ts";
import type { IncomingCall } from "../../../src/core/http/message/incoming-call.ts";
import { poolMembers } from "../../../src/core/pools/pool-members.ts";
import { AgentResponder } from "../../../src/features/agent/agent.ts";
import { VerdictFollower } from "../../../src/core/balancing/verdict-follower.ts";
import { PoolAssignments } from "../../../src/features/xds/pool-assignments.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";
import { plainAgent, agentScope } from "../../features/agent/agent-fixture.ts";

const names = ["pg1", "pg2", "pg3", "pg4"];
const checks = { write: "/primary", read: "/replica" } as const;

function checkOf(pool: keyof typeof checks) {
  const route = routeOf(checks[pool].slice(1)) ?? assert.fail();
  const parsed = parseCheck(route, "", { ignoreParams: [], ignoresUnknown: false, defaults: "", lagTimeMsMin: 0 });
  return parsed.ok ? parsed.check : assert.fail();
}

type ClusterName = "demo" | "aside";

/** All projections of the pools of a cluster, over time; in some states beside another cluster with nodes of the same names. */
class Projections {
  nowMs = 1_000;
  watched: ClusterFixture;
  readonly aside: ClusterFixture | null;
  isStopping = false;
  isWithdrawn = false;
  /** The servers of HAProxy by backend, and the databases of PgBouncer, as changes have left them. */
  readonly #servers = new Map<string, string>();
  readonly #memory = new PoolMemory();
  readonly #agent: AgentResponder;
  readonly #agentSays = new Map<string, string>();
  readonly #follower: VerdictFollower;
  readonly #assignments: PoolAssignments;
  #watch: readonly FitNode[] = [];

  constructor(nodes: readonly string[], isBeside = false) {
    this.watched = Projections.clusterOf(nodes);
    this.aside = isBeside ? Projections.clusterOf(nodes, "aside") : null;
    const judging = {
      cluster: (name: string) => this.#fixture(name).cluster,
      policy: (name: string) => this.#fixture(name).policy,
      now: () => this.nowMs,
      setTimer: () => () => {},
      onError: (_: string, error: unknown) => assert.fail(String(error)),
    };
    this.#agent = new AgentResponder(
      { scope: { ...agentScope, clusters: this.#names }, agent: plainAgent },
      {
        snapshot: () => this.#snapshot,
        policy: judging.policy,
        now: judging.now,
        isStopping: () => this.isStopping,
        onAnswer: () => {},
      },
    );
    this.#follower = new VerdictFollower({
      ...judging,
      onChanges: (_, changes) => {
        for (const { backend, server, target } of changes)
          if (target !== null) this.#servers.set(`${backend} ${server}`, target);
      },
    });
    this.#assignments = new PoolAssignments({
      ...judging,
      addresses: { of: (host) => ({ ip: host, isElsewhere: false, isPending: false }), follow: () => {} },
      probedAt: () => null,
      onElsewhere: () => assert.fail("no name leads elsewhere"),
      instance: () => "test",
      onChange: () => {},
    });
    this.#configure();
  }

  static clusterOf(nodes: readonly string[], cluster: ClusterName = "demo"): ClusterFixture {
    return new ClusterFixture({
      cluster: { name: cluster },
      nodes: nodes.map((name) => ({
        name,
        api: `http://${name}:8008`,
        database: { host: `10.0.0.${name.slice(-1)}`, port: 5432 },
      })),
    });
  }

  /** A reload: nodes that stay keep their evidence. */
  reload(nodes: readonly string[]): void {
    const { cluster } = this.watched;
    this.watched = Projections.clusterOf(nodes);
    for (const known of cluster.nodes) {
      if (known.report === null || !nodes.includes(known.node.name)) continue;
      const result = { report: known.report, hasLock: known.hasLock };
      const { sentAtMs, sentAtWallMs } = known;
      this.watched.record(
        { kind: "status", cluster: "demo", node: known.node.name, sentAtMs, sentAtWallMs, result },
        this.nowMs,
      );
    }
    this.#configure();
  }

  async look(of: ClusterName = "demo"): Promise<Readonly<Record<string, string>>> {
    this.#follower.clusterChanged(of);
    this.#assignments.clusterChanged(of);
    return {
      traefik: await this.#pools(of, "traefik"),
      http_sd: await this.#pools(of, "http_sd"),
      "/pools/{pool}": await this.#pools(of, "json"),
      xDS: this.#xds(of),
      agent: this.#ask(of),
      "Runtime API": this.#both((pool) =>
        names.filter((node) => this.#servers.get(`${poolName(of, pool)} ${node}`) === "up"),
      ),
      "PgBouncer file": names.findLast((node) => this.#servers.get(`${poolName(of, "write")} ${node}`) === "up") ?? "-",
      watch: this.#both((pool) => this.#fitNodes(of, pool)),
    };
  }

  #fixture(name: string): ClusterFixture {
    return name === "aside" ? (this.aside ?? assert.fail("there is no other cluster")) : this.watched;
  }

  get #names(): readonly ClusterName[] {
    return this.aside === null ? ["demo"] : ["demo", "aside"];
  }

  get #snapshot() {
    const clusters = this.#names.map((name) => this.#fixture(name).cluster);
    return { instance: "test", sequence: 1, clusters, index: new Map(clusters.map(({ name }, at) => [name, at])) };
  }

  get #namedPools() {
    return this.#names.flatMap((cluster) =>
      (["write", "read"] as const).map((pool) => ({
        name: poolName(cluster, pool),
        cluster,
        check: checkOf(pool),
        checkText: checks[pool],
        isNamed: true,
        weight: null,
      })),
    );
  }

  #configure(): void {
    const pools = this.#namedPools;
    const all = { balancer: "edge", servers: null, cutsSessions: false, weight: null };
    this.#follower.configure(
      pools.map(({ name, cluster, check }) => ({ ...all, cluster, backend: name, check })),
      new Set(["edge"]),
    );
    this.#assignments.configure(pools, { cutMs: 0, roundMs: 3_000, staleAfterMs: null, checksAt: null });
    for (const key of this.#servers.keys())
      if (!this.watched.cluster.index.has(key.split(" ")[1] ?? "")) this.#servers.delete(key);
  }

  /** Traefik and Prometheus read one document with the pools of all clusters; the other form is that of one pool. */
  async #pools(cluster: ClusterName, format: string): Promise<string> {
    const context: PoolsApiContext = {
      pools: this.#namedPools,
      snapshot: () => this.#snapshot,
      policy: (name) => this.#fixture(name).policy,
      now: () => this.nowMs,
      snapshots: { waitForLater: () => assert.fail("nobody waits") },
      memory: this.#memory,
      isWithdrawn: () => this.isWithdrawn,
      users: () => () => [],
    };
    const call = { request: { method: "GET" } } as unknown as IncomingCall;
    const of = async (pool: string): Promise<readonly string[] | null> => {
      const path = format === "json" ? `pools/${pool}` : "pools";
      const reply = await answerPools(call, { path, query: `format=${format}`, only: null }, context);
      if (reply.status === 503) return null;
      const document = JSON.parse(String(reply.body));
      if (format === "traefik")
        return document.tcp.services[pool].loadBalancer.servers.map(({ address }: { address: string }) =>
          nodeAt(address),
        );
      const rows = format === "http_sd" ? document : document.members;
      return rows.flatMap((row: { fit: boolean; node: string; targets: string[]; labels: Record<string, string> }) =>
        format === "http_sd"
          ? row.labels["__meta_rolecall_pool"] === pool && row.labels["__meta_rolecall_fit"] === "true"
            ? [nodeAt(row.targets[0] ?? "")]
            : []
          : row.fit
            ? [row.node]
            : [],
      );
    };
    const [write, read] = [await of(poolName(cluster, "write")), await of(poolName(cluster, "read"))];
    return write === null || read === null ? "-" : `${write.join()} | ${read.toSorted().join()}`;
  }

  #xds(cluster: ClusterName): string {
    const assigned = (pool: keyof typeof checks) => this.#assignments.of(poolName(cluster, pool))?.assignment;
    if (assigned("write") === undefined) return "-";
    return this.#both((pool) =>
      (assigned(pool)?.endpoints ?? []).flatMap(({ node, isHealthy }) => (isHealthy ? [node] : [])),
    );
  }

  /** What HAProxy was told of each replica last: a comment alone changes nothing. */
  #ask(cluster: ClusterName): string {
    const { nodes } = this.#fixture(cluster).cluster;
    for (const { node } of nodes) {
      const asked = `${cluster}/${node.name}`;
      const answer = this.#agent.answer(`${asked} /replica`, "10.0.0.9") ?? "";
      if (!answer.startsWith(" #")) this.#agentSays.set(asked, answer === "up 100%" ? "up" : "checks");
    }
    const up = nodes.filter(({ node }) => this.#agentSays.get(`${cluster}/${node.name}`) === "up");
    return up.length === 0 ? "-" : up.map(({ node }) => node.name).join();
  }

  #fitNodes(cluster: ClusterName, pool: keyof typeof checks): readonly string[] {
    const watched = this.#fixture(cluster);
    const view = viewAt(watched.cluster, watched.policy, this.nowMs);
    const judged = poolMembers(view, checkOf(pool)).members.map(({ observation, verdict, isSilent, address }) => ({
      node: observation.node.name,
      fit: verdict.fit,
      reason: verdict.fit ? null : verdict.reason,
      isKnown: !isSilent,
      database: address === null ? null : `${address.host}:${address.port}`,
    }));
    const key = poolName(cluster, pool);
    const before = this.#watch.filter(({ node }) => node.startsWith(`${key} `));
    const change = fitNodesAfter(
      before.map((one) => ({ ...one, node: one.node.slice(key.length + 1) })),
      judged,
      pool === "write",
    );
    const after = "nodes" in change ? change.nodes.map((one) => ({ ...one, node: `${key} ${one.node}` })) : before;
    this.#watch = [...this.#watch.filter(({ node }) => !node.startsWith(`${key} `)), ...after];
    return after.map(({ node }) => node.slice(key.length + 1));
  }

  #both(of: (pool: keyof typeof checks) => readonly string[]): string {
    const [write, read] = [of("write"), of("read")];
    return write.length + read.length === 0 ? "-" : `${write.join()} | ${read.toSorted().join()}`;
  }
}

function poolName(cluster: ClusterName, pool: keyof typeof checks): string {
  return cluster === "demo" ? pool : `${cluster}-${pool}`;
}

function nodeAt(address: string): string {
  return `pg${/10\.0\.0\.(\d)/.exec(address)?.[1]}`;
}

/** Everybody answers, or of the replicas some. */
function answerAll({ watched, nowMs }: Projections, nodes: readonly string[] = ["pg2", "pg3"]): void {
  answerIn(watched, nowMs, nodes);
}

function answerIn(cluster: ClusterFixture | null, nowMs: number, nodes: readonly string[] = ["pg2", "pg3"]): void {
  cluster?.lead("pg1", nowMs);
  for (const node of nodes) cluster?.follow(node, nowMs);
}

const usual = {
  traefik: "pg1 | pg2,pg3",
  http_sd: "pg1 | pg2,pg3",
  "/pools/{pool}": "pg1 | pg2,pg3",
  xDS: "pg1 | pg2,pg3",
  agent: "pg2,pg3",
  "Runtime API": "pg1 | pg2,pg3",
  "PgBouncer file": "pg1",
  watch: "pg1 | pg2,pg3",
};
const nothing = Object.fromEntries(Object.keys(usual).map((projection) => [projection, "-"]));
const withoutPg3 = Object.fromEntries(
  Object.entries(usual).map(([projection, shown]) => [projection, shown.replace(",pg3", "")]),
);

/** How rolecall gets into each state, and what the projections show then. */
const columns: readonly {
  readonly state: string;
  readonly nodes?: readonly string[];
  readonly begin: (projections: Projections) => void;
  readonly expected: Readonly<Record<string, string>>;
}[] = [
  { state: "starting: no node was asked yet", begin: () => {}, expected: nothing },
  {
    state: "starting: one of three has answered",
    begin: ({ watched, nowMs }) => watched.follow("pg2", nowMs),
    // What clients are told of pg2 is true. What is left out here is what would take the others from them.
    expected: { ...nothing, agent: "pg2", "Runtime API": " | pg2", watch: " | pg2" },
  },
  {
    state: "blind: nobody answers any more",
    begin: (projections) => {
      projections.nowMs += 30_000;
      for (const node of ["pg1", "pg2", "pg3"]) projections.watched.fail(node, "timeout", projections.nowMs);
    },
    expected: usual,
  },
  {
    state: "late here: rolecall did not ask pg3 in time",
    begin: (projections) => {
      projections.nowMs += 30_000;
      answerAll(projections, ["pg2"]);
    },
    expected: usual,
  },
  {
    state: "late here: rolecall did not ask the leader in time",
    begin: (projections) => {
      projections.nowMs += 30_000;
      for (const node of ["pg2", "pg3"]) projections.watched.follow(node, projections.nowMs);
    },
    expected: usual,
  },
  {
    state: "late here, and another node stands: a write pool never holds two",
    begin: (projections) => {
      projections.nowMs += 30_000;
      projections.watched.lead("pg2", projections.nowMs, { timeline: 2 });
      projections.watched.follow("pg3", projections.nowMs, { timeline: 2 });
    },
    expected: {
      ...Object.fromEntries(Object.keys(usual).map((key) => [key, "pg2 | pg3"])),
      agent: "pg3",
      "PgBouncer file": "pg2",
    },
  },
  {
    state: "the mirror image: pg3 itself misses an answer",
    begin: (projections) => {
      projections.nowMs += 30_000;
      answerAll(projections, ["pg2"]);
      projections.watched.fail("pg3", "timeout", projections.nowMs);
    },
    expected: withoutPg3,
  },
  {
    state: "late here, and then a refused connection: it acts at once",
    begin: (projections) => {
      projections.nowMs += 30_000;
      answerAll(projections, ["pg2"]);
      projections.watched.fail("pg3", "refused", projections.nowMs);
    },
    expected: withoutPg3,
  },
  {
    state: "stopping",
    begin: (projections) => {
      projections.isStopping = true;
    },
    expected: usual,
  },
  {
    state: "late here for a whole ttl: as if rolecall had ended",
    begin: (projections) => {
      projections.isWithdrawn = true;
    },
    expected: { ...usual, traefik: "-", http_sd: "-", "/pools/{pool}": "-" },
  },
  {
    state: "a node was added and is not probed yet",
    begin: (projections) => projections.reload(["pg1", "pg2", "pg3", "pg4"]),
    expected: usual,
  },
  {
    state: "a node was removed by a reload: that is none",
    begin: (projections) => projections.reload(["pg1", "pg2"]),
    expected: withoutPg3,
  },
];

/** The same beside another cluster, and what the projections of both show. */
const beside: readonly {
  readonly state: string;
  readonly begin: (projections: Projections) => void;
  readonly expected: Readonly<Record<ClusterName, Readonly<Record<string, string>>>>;
}[] = [
  {
    state: "one of two clusters is blind, and a replica of the other one is gone",
    begin: (projections) => {
      projections.nowMs += 30_000;
      for (const node of ["pg1", "pg2", "pg3"]) projections.aside?.fail(node, "timeout", projections.nowMs);
      answerAll(projections, ["pg2"]);
      projections.watched.fail("pg3", "refused", projections.nowMs);
    },
    expected: { demo: withoutPg3, aside: usual },
  },
  {
    state: "one of two clusters is late here, and a replica of the other one is gone",
    begin: (projections) => {
      projections.nowMs += 30_000;
      answerAll(projections, ["pg2"]);
      projections.watched.fail("pg3", "refused", projections.nowMs);
    },
    expected: { demo: withoutPg3, aside: usual },
  },
  {
    state: "one of two clusters has not answered yet: a document of all pools would show it as empty",
    begin: () => {},
    expected: { demo: { ...usual, traefik: "-", http_sd: "-" }, aside: nothing },
  },
];

describe("projections of pools", () => {
  for (const { state, begin, expected } of columns)
    test(state, async () => {
      const projections = new Projections(["pg1", "pg2", "pg3"]);
      if (!state.startsWith("starting")) {
        answerAll(projections);
        assert.deepEqual(await projections.look(), usual);
      }
      begin(projections);
      assert.deepEqual(await projections.look(), expected);
    });

  for (const { state, begin, expected } of beside)
    test(state, async () => {
      const projections = new Projections(["pg1", "pg2", "pg3"], true);
      answerAll(projections);
      await projections.look();
      if (expected.aside === usual) {
        answerIn(projections.aside, projections.nowMs);
        for (const cluster of ["demo", "aside"] as const) assert.deepEqual(await projections.look(cluster), usual);
      }
      begin(projections);
      for (const cluster of ["demo", "aside"] as const)
        assert.deepEqual(await projections.look(cluster), expected[cluster], cluster);
    });
});
