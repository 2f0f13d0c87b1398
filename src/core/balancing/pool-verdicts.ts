import { nodeNamed } from "../cluster/lookup.ts";
import type { Reason } from "../health/reason.ts";
import type { Check } from "../health/check.ts";
import type { ClusterView } from "../health/evidence/leadership/cluster-view.ts";
import { oneNodeRoutes } from "../health/route.ts";
import { memberMaker } from "../pools/pool-members.ts";
import type { Verdict } from "../health/verdict.ts";
import type { WeightConfig } from "../config/model/config.ts";
import { weightInputOf, type WeightInput } from "../pools/weight/weight-input.ts";
import { serverTargetOf, type ServerTarget } from "./server-change.ts";

/** The servers of one backend of a balancer, which follow the verdicts of one cluster. */
export interface ServerPool {
  readonly balancer: string;
  readonly backend: string;
  readonly cluster: string;
  readonly check: Check;
  /** Server name -> node name; `null`: each server has the name of its node. */
  readonly servers: Readonly<Record<string, string>> | null;
  readonly cutsSessions: boolean;
  /** How the weights of the servers follow their lag; `null`: they stay as they are. */
  readonly weight: WeightConfig | null;
}

/** What the evidence of one instant means for one server. */
export interface ServerVerdict {
  readonly server: string;
  /** `null`: nothing is known for or against the node, so that the server stays as it is. */
  readonly target: ServerTarget | null;
  /** Whether another node leads in place of this one, so that its sessions may be closed. */
  readonly isReplaced: boolean;
  /** What the weight depends on; `null` for a pool without weights. */
  readonly weightInput: WeightInput | null;
}

/** The verdicts of a pool, and how long they hold if no probe or drain changes the evidence. */
export interface PoolVerdicts {
  readonly servers: readonly ServerVerdict[];
  /** In ms of rolecall's clock. */
  readonly validUntilMs: number;
}

/** Whether a pool is for the primary: at most one node is fit. */
export function isOfPrimary({ check }: Pick<ServerPool, "check">): boolean {
  return oneNodeRoutes.has(check.route);
}

/** Judges the servers of a pool, except those whose node is not in the cluster. Pure. */
export function poolVerdicts(
  view: ClusterView,
  { check, servers, weight }: Pick<ServerPool, "check" | "servers" | "weight">,
): PoolVerdicts {
  const { cluster } = view;
  const pairs = servers === null ? cluster.nodes.map(({ node }) => [node.name, node.name]) : Object.entries(servers);
  const verdicts: ServerVerdict[] = [];
  const memberOf = memberMaker(view, check);
  let validUntilMs = Infinity;
  for (const [server = "", node = ""] of pairs) {
    const observation = nodeNamed(cluster, node);
    if (observation === undefined || !isServerName(server)) continue;
    const { verdict, isSilent, validUntilMs: untilMs } = memberOf(observation);
    validUntilMs = Math.min(validUntilMs, untilMs);
    verdicts.push({
      server,
      // A node that was never heard was never used: HAProxy's own checks decide.
      target: isSilent || (!verdict.fit && verdict.reason === "unknown") ? null : serverTargetOf(verdict, check),
      isReplaced: isReplaced(verdict, view, node),
      weightInput: weight === null ? null : weightInputOf(view, observation, verdict.fit),
    });
  }
  return { servers: verdicts, validUntilMs };
}

/**
 * Whether another node leads in place of this one. A node that is only unreachable or has old evidence is not
 * replaced: its sessions may still be in use.
 */
function isReplaced(verdict: Verdict, { lock }: ClusterView, node: string): boolean {
  if (verdict.fit || lock.holder === null || lock.holder === node) return false;
  return replacedReasons.has(verdict.reason);
}

const replacedReasons: ReadonlySet<Reason> = new Set<Reason>(["superseded", "demoted", "stray_primary"]);

/** Whether HAProxy accepts a name for a server. A node with another name has no server of its name. */
export function isServerName(text: string): boolean {
  return /^[\w.:-]{1,128}$/.test(text);
}
