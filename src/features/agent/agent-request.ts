import { ofKnownCompanions, ofNewSessions, parseCheck, type Check, type CheckRules } from "../../core/health/check.ts";
import { routeOf } from "../../core/health/route.ts";
import type { ConfiguredCheck } from "../../core/config/model/config.ts";

/** What the lines of an agent listener are read with. */
export interface AgentScope {
  /** The cluster and node that the listener is bound to. */
  readonly cluster: string | null;
  readonly node: string | null;
  /** The names of all clusters. */
  readonly clusters: readonly string[];
  /** The check of a line that names only a node. */
  readonly check: ConfiguredCheck;
  readonly rules: CheckRules;
  /** The names of the companions of each cluster. Default: no cluster has any. */
  readonly companions?: ReadonlyMap<string, readonly string[]>;
}

/** A server and the check that decides about it. */
export interface AgentRequest {
  readonly cluster: string;
  readonly node: string;
  readonly check: Check;
  /** Identifies cluster, node and check. */
  readonly key: string;
}

/** A request, or why the line is none. */
export type ParsedLine = AgentRequest | { readonly problem: string };

/**
 * Parses a line of HAProxy's `agent-send`: `pg1`, `cluster/pg1`, `pg1 /replica?lag=1MB`. A listener that is bound to a
 * node accepts an empty line, and a check alone.
 */
export function parseAgentLine(line: string, scope: AgentScope): ParsedLine {
  const words = line.trim().split(/\s+/);
  if (scope.node !== null && (words[0] === "" || words[0]?.startsWith("/") === true)) words.unshift(scope.node);
  const [target = "", check = "", more] = words;
  if (more !== undefined && more !== "") return { problem: "too many words" };
  const named = targetOf(target, scope);
  if ("problem" in named) return named;
  const [path = "", ...queries] = check.replace(/^\//, "").split("?");
  const route = check === "" ? scope.check.route : routeOf(path);
  if (route === undefined) return { problem: "unknown check" };
  const query = check === "" ? scope.check.query : queries.join("?");
  const parsed = ofKnownCompanions(
    ofNewSessions(parseCheck(route, query, scope.rules)),
    scope.companions?.get(named.cluster) ?? [],
  );
  if (!parsed.ok) return { problem: `bad ${parsed.problem.subject}` };
  return { ...named, check: parsed.check, key: `${named.cluster}/${named.node} ${route}?${query}` };
}

/** Where line and listener disagree, the line names no server: an agent never guesses. */
function targetOf(
  target: string,
  { cluster: bound, node: boundNode, clusters }: AgentScope,
): { readonly cluster: string; readonly node: string } | { readonly problem: string } {
  const slash = target.indexOf("/");
  const node = target.slice(slash + 1);
  const cluster =
    slash < 0 ? (bound ?? (clusters.length === 1 ? (clusters[0] ?? null) : null)) : target.slice(0, slash);
  if (node === "") return { problem: "no node named" };
  if (cluster === null) return { problem: "no cluster named" };
  if (!clusters.includes(cluster) || (bound !== null && cluster !== bound)) return { problem: "unknown cluster" };
  return boundNode !== null && node !== boundNode ? { problem: "unknown node" } : { cluster, node };
}
