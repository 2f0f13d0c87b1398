import { nodeNamed } from "../../src/core/cluster/lookup.ts";
import { parseClusterDocument } from "../../src/core/cluster/documents/cluster-document.ts";
import { parseDynamicConfig } from "../../src/core/cluster/documents/dynamic-config.ts";
import { parseHistory } from "../../src/core/cluster/documents/history.ts";
import type { FailureKind } from "../../src/core/cluster/observation.ts";
import type { ProbeOutcome } from "../../src/core/cluster/outcome.ts";
import type { ClusterState } from "../../src/core/cluster/snapshot.ts";
import type { ClusterConfig, NodeConfig } from "../../src/core/config/model/config.ts";
import { parseCheck, type Check } from "../../src/core/health/check.ts";
import { observe } from "../../src/core/health/observe/observe.ts";
import { judgeMember, judgePool } from "../../src/core/health/rules/pool.ts";
import { routeOf } from "../../src/core/health/route.ts";
import type { HealthPolicy } from "../../src/core/health/health-policy.ts";
import { viewAt } from "../../src/core/health/evidence/leadership/cluster-view.ts";
import { statedOf, type Verdict } from "../../src/core/health/verdict.ts";
import { buildClusters } from "../../src/core/state/clusters.ts";
import { parseAccusations, withAccusations } from "../../src/core/state/saved-accusations.ts";
import { parseRefusals, withSavedRefusals } from "../../src/core/state/saved-refusals.ts";
import { clusterOf, configOf, nodeOf } from "./config.ts";
import { reportOf, type StatusFields } from "./node-documents.ts";

/** How a cluster is set up for a scenario: the names of its fixed nodes, or whole configurations. */
export interface FixtureOptions {
  readonly nodes?: readonly (string | (Pick<NodeConfig, "name" | "api"> & Partial<NodeConfig>))[];
  readonly cluster?: Partial<ClusterConfig>;
  /** What differs from the defaults, of the guards, too. */
  readonly policy?: Partial<Omit<HealthPolicy, "guards">> & { readonly guards?: Partial<HealthPolicy["guards"]> };
  /** The nodes that an earlier run refused, and why: it has saved that. */
  readonly accused?: { readonly [node: string]: "detached" | "stalled" | "diverged" };
  /** The claims that an earlier run refused, and beside which node: it has saved that. */
  readonly refused?: { readonly [node: string]: string };
  /** The nodes that an earlier run marked as forked, and up to which position: it has saved that. */
  readonly forked?: { readonly [node: string]: number };
  /** The configured addresses have not all been asked yet. Default: they have. */
  readonly isStarting?: boolean;
}

/** What a cluster document says besides whom it names. */
export interface NamingDocument {
  readonly timeline?: number | undefined;
  readonly sentAtMs?: number;
  readonly lags?: { readonly [member: string]: { readonly lag: number | string; readonly lsn?: string } } | undefined;
}

/** One cluster without probing: tests record outcomes and judge checks. Uses the pure modules only. */
export class ClusterFixture {
  readonly policy: HealthPolicy;
  cluster: ClusterState;
  #revision = 0;

  constructor({
    nodes = ["pg1", "pg2", "pg3"],
    cluster = {},
    policy: settings = {},
    accused = {},
    forked = {},
    refused = {},
    isStarting = false,
  }: FixtureOptions = {}) {
    const fixed = nodes.map((node) =>
      nodeOf(typeof node === "string" ? { name: node, api: `http://${node}:8008` } : node),
    );
    const config = configOf({ clusters: [clusterOf({ nodes: fixed, ...cluster })] });
    const accusations = Object.keys({ ...accused, ...forked }).map((node) => ({
      cluster: "demo",
      node,
      api: fixed.find(({ name }) => name === node)?.api ?? null,
      detached: accused[node] === "detached",
      stalled: accused[node] === "stalled",
      diverged: accused[node] === "diverged",
      forked_up_to: forked[node] ?? null,
    }));
    const refusals = Object.entries(refused).map(([node, beside]) => {
      const api = fixed.find(({ name }) => name === node)?.api;
      return { cluster: "demo", node, api, beside };
    });
    const marked = withAccusations(buildClusters(config, new Map()), parseAccusations(accusations));
    const [monitored] = withSavedRefusals(marked, parseRefusals(refusals));
    if (monitored === undefined) throw new Error("the configuration must have a cluster");
    this.cluster = isStarting ? monitored.cluster : { ...monitored.cluster, hasAskedAll: true };
    this.policy = { ...monitored.policy, ...settings, guards: { ...monitored.policy.guards, ...settings.guards } };
  }

  record(outcome: ProbeOutcome, nowMs: number): ClusterState {
    this.cluster = observe(this.cluster, outcome, { policy: this.policy, nowMs });
    return this.cluster;
  }

  /** Records the node's answer to `GET /leader`, sent and received at the same instant unless `sentAtMs` is given. */
  answer(
    node: string,
    said: { readonly fields?: StatusFields; readonly hasLock?: boolean },
    atMs: number,
    sentAtMs = atMs,
  ): void {
    const result = { report: reportOf(node, said.fields), hasLock: said.hasLock ?? false };
    this.record({ kind: "status", cluster: "demo", node, sentAtMs, sentAtWallMs: sentAtMs, result }, atMs);
  }

  /** Records the node's last answer once more, as a prober does that recognises an unchanged response. */
  again(node: string, atMs: number): void {
    const known = nodeNamed(this.cluster, node);
    if (known === undefined || known.report === null) throw new Error(`${node} has not answered yet`);
    const result = { report: known.report, hasLock: known.hasLock };
    this.record({ kind: "status", cluster: "demo", node, sentAtMs: atMs, sentAtWallMs: atMs, result }, atMs);
  }

  /** Records a primary that holds the lock. */
  lead(node: string, atMs: number, fields: StatusFields = {}, sentAtMs = atMs): void {
    this.answer(node, { hasLock: true, fields: { role: "primary", ...fields } }, atMs, sentAtMs);
  }

  follow(node: string, atMs: number, fields: StatusFields = {}): void {
    this.answer(node, { fields }, atMs);
  }

  fail(node: string, kind: FailureKind, atMs: number): void {
    const detail = kind === "refused" ? "connection refused" : `an injected ${kind}`;
    const result = { failure: { kind, detail } };
    this.record({ kind: "status", cluster: "demo", node, sentAtMs: atMs, sentAtWallMs: atMs, result }, atMs);
  }

  recordLiveness(node: string, isAlive: boolean, atMs: number): void {
    this.record({ kind: "liveness", cluster: "demo", node, sentAtMs: atMs, isAlive }, atMs);
  }

  /** Records one of the cluster's documents, as `of` answered it. */
  document(
    name: "cluster" | "config" | "history",
    said: { readonly of: string; readonly value: unknown; readonly sentAtMs?: number },
    atMs: number,
  ): void {
    const { of, value, sentAtMs = atMs } = said;
    const served = { status: 200, body: JSON.stringify(value), source: of, sentAtMs };
    const read = {
      cluster: parseClusterDocument(value),
      config: parseDynamicConfig(value),
      history: parseHistory(value),
    };
    this.record({ kind: "document", cluster: "demo", answer: { name, served, [name]: read[name] } }, atMs);
  }

  /**
   * Records a cluster document of the nodes that are known now.
   * @param document `lags`: member name -> the fields of its row that state how far it is behind
   */
  nameLeader(
    leader: string | null,
    of: string,
    atMs: number,
    { timeline = 1, sentAtMs = atMs, lags = {} }: NamingDocument = {},
  ): void {
    const members = this.cluster.nodes.map(({ node }) => ({
      name: node.member,
      role: node.member === leader ? "leader" : "replica",
      state: "running",
      api_url: `${node.api}/patroni`,
      timeline,
      ...lags[node.member],
    }));
    this.document("cluster", { of, value: { scope: "demo", members }, sentAtMs }, atMs);
  }

  /**
   * Records a read of the leader key: the member that it names, `null` for nobody, or "unreadable". Revisions rise by
   * themselves.
   */
  readDcs(
    leader: string | null,
    atMs: number,
    of: { readonly source?: string; readonly revision?: number } = {},
  ): void {
    const failure = { kind: "timeout", detail: "an injected timeout" } as const;
    this.#revision = of.revision ?? this.#revision + 1;
    const read = { leader, source: of.source ?? "etcd", revision: this.#revision, hasScope: true };
    const result = leader === "unreadable" ? { failure } : { read };
    this.record({ kind: "dcs", cluster: "demo", sentAtMs: atMs, result }, atMs);
  }

  /** Records that the request for the node's cluster document failed. */
  failView(node: string, atMs: number): void {
    this.record(
      {
        kind: "view_failure",
        cluster: "demo",
        node,
        sentAtMs: atMs,
        failure: { kind: "timeout", detail: "an injected timeout" },
      },
      atMs,
    );
  }

  /** Returns `fit`, `degraded` or the reason; without a node that of the whole cluster. */
  judge(node: string | null, check: string, nowMs: number): string {
    const verdict = this.verdict(node, check, nowMs);
    return verdict === null ? "no such node" : word(verdict);
  }

  /** Returns the same and, with a space before it, the figure of the reason. */
  phrase(node: string | null, check: string, nowMs: number): string {
    const verdict = this.verdict(node, check, nowMs);
    const stated = verdict === null ? null : statedOf(verdict);
    // A yes that passes over a lack of evidence states it.
    const parts = verdict?.fit === true && stated !== null ? ["200", stated.reason] : [this.judge(node, check, nowMs)];
    return [...parts, ...(stated?.figure == null ? (parts.length > 1 ? [] : ["-"]) : [stated.figure])].join(" ");
  }

  /** Judges a check; `null` if there is no such node. */
  verdict(node: string | null, check: string, nowMs: number): Verdict | null {
    const view = viewAt(this.cluster, this.policy, nowMs);
    const parsed = parsedCheck(check);
    if (node === null) return judgePool(view, parsed).verdict;
    const observation = nodeNamed(this.cluster, node);
    return observation === undefined ? null : judgeMember(view, observation, parsed);
  }

  /** Returns the node whose document answers a check of the whole cluster. */
  chosen(check: string, nowMs: number): string | null {
    return judgePool(viewAt(this.cluster, this.policy, nowMs), parsedCheck(check)).chosen?.node.name ?? null;
  }
}

function parsedCheck(check: string): Check {
  const [path = "", query = ""] = check.split("?");
  const route = routeOf(path.replace(/^\//, ""));
  if (route === undefined) throw new Error(`there is no route ${path}`);
  const parsed = parseCheck(route, query, { ignoreParams: [], ignoresUnknown: false, defaults: "", lagTimeMsMin: 0 });
  if (!parsed.ok) throw new Error(`cannot read ${check}: ${JSON.stringify(parsed.problem)}`);
  return parsed.check;
}

function word(verdict: Verdict): string {
  if (!verdict.fit) return verdict.reason;
  return verdict.isDegraded ? "degraded" : "fit";
}

/** pg1 leads, pg2 is 12 MB behind, pg3 never answered; all at the instant 0. */
export function steadyCluster(): ClusterFixture {
  const watched = new ClusterFixture({ nodes: ["pg1", "pg2", "pg3"] });
  watched.lead("pg1", 0, { xlog: { location: 50_000_000 } });
  watched.follow("pg2", 0, { xlog: { received_location: 50_000_000, replayed_location: 37_417_088 } });
  return watched;
}

/** pg1 leads, pg2 and pg3 follow. All have just answered, and their evidence stays fresh for ten minutes. */
export function answeringCluster(): ClusterFixture {
  const watched = new ClusterFixture({ policy: { maxAgeMs: 600_000 } });
  watched.document("config", { of: "pg1", value: { ttl: 1_000 } }, 0);
  watched.lead("pg1", 0);
  watched.follow("pg2", 0);
  watched.follow("pg3", 0);
  return watched;
}
