import { LRUCache } from "lru-cache";
import { clusterNamed, nodeNamed } from "../../core/cluster/lookup.ts";
import type { Snapshot } from "../../core/cluster/snapshot.ts";
import type { AgentConfig } from "../../core/config/model/config.ts";
import { viewAt, type ClusterView } from "../../core/health/evidence/leadership/cluster-view.ts";
import { mayLackMembers } from "../../core/health/evidence/node/listed-members.ts";
import type { HealthPolicy } from "../../core/health/health-policy.ts";
import { poolMember } from "../../core/pools/pool-members.ts";
import type { Observation } from "../../core/cluster/observation.ts";
import { unfit, type Verdict } from "../../core/health/verdict.ts";
import { ServerWeight } from "../../core/pools/weight/server-weight.ts";
import { weightInputOf } from "../../core/pools/weight/weight-input.ts";
import { agentAdviceFor, agentAnswer, type AgentAdvice } from "./agent-advice.ts";
import { parseAgentLine, type AgentRequest, type AgentScope, type ParsedLine } from "./agent-request.ts";
import { OwnDrains } from "./own-drains.ts";

/** What an agent answers from. */
export interface AgentSources {
  readonly snapshot: () => Snapshot;
  readonly policy: (cluster: string) => HealthPolicy | undefined;
  /** Milliseconds of rolecall's clock. */
  readonly now: () => number;
  /** Whether this process is about to exit. */
  readonly isStopping: () => boolean;
  /** Counts an answer. `unknown`: the line named no known server. */
  readonly onAnswer: (answer: AgentAdvice | "unknown") => void;
}

/** The settings of an agent listener. */
export interface AgentSettings {
  readonly scope: AgentScope;
  readonly agent: AgentConfig;
}

/** What is remembered of a server under one check. */
interface ServerMemory {
  weight: ServerWeight | null;
  /** Since when the checks decide alone, in ms of rolecall's clock. */
  leftToChecksSinceMs: number | null;
}

/** How many lines, and how many servers under one check, are remembered. */
const rememberedMax = 1_000;
/**
 * How long a server keeps its last weight once the checks decide alone, in ms. By then they have acted: a weight of
 * 100% gives a server no sessions before.
 */
const keptWeightMs = 5_000;

/**
 * Answers the lines of HAProxy's agent checks from memory. An accelerator: what it answers never takes a server down,
 * and leaves every hard no to HAProxy's own checks.
 */
export class AgentResponder {
  readonly #sources: AgentSources;
  readonly #lines = new LRUCache<string, ParsedLine>({ max: rememberedMax });
  readonly #servers = new LRUCache<string, ServerMemory>({ max: rememberedMax });
  readonly #ownDrains = new OwnDrains();
  #settings: AgentSettings;

  constructor(settings: AgentSettings, sources: AgentSources) {
    this.#settings = settings;
    this.#sources = sources;
  }

  /** Applies other settings. Weights, warm-ups and drains of its own continue. */
  configure(settings: AgentSettings): void {
    this.#settings = settings;
    this.#lines.clear();
    const { weight } = settings.agent;
    for (const server of this.#servers.values()) {
      if (weight === null) server.weight = null;
      else server.weight?.configure(weight);
    }
  }

  /**
   * Answers a line.
   * @param line without its end; `null` if the client sends none
   * @param peer the address of the balancer
   * @returns the answer without its end; `null` to wait for a line
   */
  answer(line: string | null, peer: string): string | null {
    if (line === null && this.#settings.scope.node === null) return null;
    const request = this.#parse(line ?? "");
    if ("problem" in request) return this.#unknown(request.problem);
    const { snapshot, policy: policyOf, now } = this.#sources;
    const cluster = clusterNamed(snapshot(), request.cluster);
    const policy = policyOf(request.cluster);
    if (cluster === undefined || policy === undefined) return this.#unknown("unknown cluster");
    const observation = nodeNamed(cluster, request.node);
    // While members may be missing here, any node name may turn out to exist.
    if (observation === undefined && !mayLackMembers(cluster)) return this.#unknown("unknown node");
    const view = viewAt(cluster, policy, now());
    return this.#advise({ request, view, observation: observation ?? null }, peer);
  }

  #advise(
    subject: { readonly request: AgentRequest; readonly view: ClusterView; readonly observation: Observation | null },
    peer: string,
  ): string {
    const { request, view, observation } = subject;
    const member = observation === null ? null : poolMember(view, observation, request.check);
    const verdict = member?.verdict ?? unfit("unknown");
    // What the balancer was told before stays in force.
    if (member?.isSilent === true && !this.#sources.isStopping()) {
      this.#sources.onAnswer("checks");
      return ` # ${printable(agentAnswer({ percent: null }, verdict).replace(/^up # /, ""))}`;
    }
    const server = this.#serverOf(request.key);
    const percent = observation === null ? 100 : weightOf(server, { view, observation, verdict });
    // Nothing that this process answered may stay in force after it: the checks decide then.
    const advice = this.#sources.isStopping() ? "checks" : agentAdviceFor(verdict, request.check);
    this.#sources.onAnswer(advice);
    if (advice !== "checks") server.leftToChecksSinceMs = null;
    const key = `${peer} ${request.key}`;
    if (advice === "drain") {
      if (this.#settings.agent.drainBy === "weight") return agentAnswer({ percent: 0 }, verdict);
      this.#ownDrains.drained(key);
      return agentAnswer({ isDrained: true, percent: null }, verdict);
    }
    const isReady = this.#ownDrains.takeBack(key);
    if (advice === "use") return agentAnswer({ isReady, percent }, verdict);
    server.leftToChecksSinceMs ??= view.nowMs;
    const keepsWeight = !this.#sources.isStopping() && view.nowMs - server.leftToChecksSinceMs < keptWeightMs;
    return agentAnswer({ isReady, percent: keepsWeight ? null : 100 }, verdict);
  }

  #parse(line: string): ParsedLine {
    let parsed = this.#lines.get(line);
    if (parsed === undefined) this.#lines.set(line, (parsed = parseAgentLine(line, this.#settings.scope)));
    return parsed;
  }

  #serverOf(key: string): ServerMemory {
    const { weight } = this.#settings.agent;
    let server = this.#servers.get(key);
    if (server === undefined) this.#servers.set(key, (server = { weight: null, leftToChecksSinceMs: null }));
    if (weight !== null) server.weight ??= new ServerWeight(weight);
    return server;
  }

  /** Changes nothing at the balancer, which shows the comment. */
  #unknown(problem: string): string {
    this.#sources.onAnswer("unknown");
    return ` # ${printable(problem)}`;
  }
}

/** The comment repeats parts of the line. */
function printable(text: string): string {
  return text.slice(0, 100).replaceAll(/[^\x20-\x7e]/g, "?");
}

/** Takes what is known of a server, and returns its weight in percent. */
function weightOf(
  { weight }: ServerMemory,
  judged: { readonly view: ClusterView; readonly observation: Observation; readonly verdict: Verdict },
): number {
  if (weight === null) return 100;
  const { view, observation, verdict } = judged;
  return weight.update(weightInputOf(view, observation, verdict.fit));
}
