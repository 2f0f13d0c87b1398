import type { AgentConfig } from "../../../src/core/config/model/config.ts";
import type { AgentScope } from "../../../src/features/agent/agent-request.ts";
import { AgentResponder } from "../../../src/features/agent/agent.ts";
import { ClusterFixture } from "../../fake/cluster-fixture.ts";

/** The cluster and check of an agent listener. */
export const agentScope: AgentScope = {
  cluster: null,
  node: null,
  clusters: ["demo"],
  check: { route: "replica", query: "lag=1kB" },
  rules: { ignoreParams: ["be"], ignoresUnknown: false, defaults: "", lagTimeMsMin: 0 },
};
/** An agent without weights. */
export const plainAgent: AgentConfig = { pool: null, check: agentScope.check, weight: null, drainBy: "weight" };
/** An agent whose weights follow the lag. */
export const weightedAgent: AgentConfig = {
  ...plainAgent,
  weight: { fullMs: 1_000, noneMs: 10_000, floor: 1, warmUpMs: 0 },
};

/** An agent over a cluster whose pg1 leads; answers at an instant. */
export class AgentFixture {
  readonly cluster = new ClusterFixture({
    nodes: ["pg1", "pg2", { name: "pg3", api: "http://pg3:8008", zone: "b" }],
  });
  readonly answers: string[] = [];
  isStopping = false;
  nowMs = 0;
  readonly agent: AgentResponder;

  constructor(agent: AgentConfig = plainAgent, bound: Partial<AgentScope> = {}) {
    this.agent = new AgentResponder(
      { scope: { ...agentScope, ...bound }, agent },
      {
        snapshot: () => {
          const { cluster } = this.cluster;
          return { instance: "i", sequence: 1, clusters: [cluster], index: new Map([["demo", 0]]) };
        },
        policy: (name) => (name === "demo" ? this.cluster.policy : undefined),
        now: () => this.nowMs,
        isStopping: () => this.isStopping,
        onAnswer: (answer) => this.answers.push(answer),
      },
    );
    this.replicasAt(0, 0);
  }

  /** Everyone answers; the replicas lack so many bytes. */
  replicasAt(atMs: number, lagBytes: number): void {
    this.nowMs = atMs;
    const location = 0x5000000 + 10 * atMs;
    this.cluster.lead("pg1", atMs, { xlog: { location } });
    for (const node of ["pg2", "pg3"]) {
      const at = location - lagBytes;
      this.cluster.follow(node, atMs, { xlog: { received_location: at, replayed_location: at } });
    }
  }

  ask(line: string | null = "pg2", peer = "10.0.0.1"): string | null {
    return this.agent.answer(line, peer);
  }
}
