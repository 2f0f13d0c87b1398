import type { Node } from "../../core/cluster/node.ts";
import type { ClusterConfig } from "../../core/config/model/config.ts";
import { companionAddress } from "../../core/health/evidence/node/companions.ts";
import type { HealthPolicy } from "../../core/health/health-policy.ts";
import type { BroughtProbe, ProbeBringer, ProbeContext, ProbedCluster } from "../../core/probe/client/probe-context.ts";
import {
  checkCompanion,
  type CheckCompanion,
  type CheckedCompanion,
  type CompanionTarget,
  type RunningCheck,
} from "../../core/probe/client/companion-check.ts";
import { CompanionProber } from "./companion-prober.ts";

/** Checks the companions of nodes. @param check checks one; replaced by tests */
export function companionProbes(check: CheckCompanion = checkCompanion): ProbeBringer {
  return {
    awaitedBy: "first_round",
    open: (_, context, cluster) => new NodeCompanions(context, cluster, check),
  };
}

/** Checks the companions of one node. */
class NodeCompanions implements BroughtProbe {
  readonly #context: ProbeContext;
  readonly #cluster: ProbedCluster;
  readonly #check: CheckCompanion;
  readonly #probers = new Map<string, CompanionProber>();

  constructor(context: ProbeContext, cluster: ProbedCluster, check: CheckCompanion) {
    this.#context = context;
    this.#cluster = cluster;
    this.#check = check;
  }

  /** Resolves when the checks in flight have ended. */
  get inFlight(): Promise<unknown> {
    return Promise.all([...this.#probers.values()].map(({ inFlight }) => inFlight));
  }

  /** Checks the companions of the node where they are now: its addresses may have changed, or the configuration. */
  follow(node: Node): void {
    const policy = this.#context.policy();
    const { config, limits } = this.#cluster;
    const wanted = companionsOf(node, { config, policy }, (target) => this.#check(target, limits));
    for (const [name, prober] of this.#probers) {
      if (wanted.some(({ companion }) => companion === name)) continue;
      prober.stop();
      this.#probers.delete(name);
    }
    for (const checked of wanted) {
      const known = this.#probers.get(checked.companion);
      if (known?.matches(checked.target) === true) continue;
      known?.stop();
      const prober = new CompanionProber(checked, this.#context);
      this.#probers.set(checked.companion, prober);
      prober.probe();
    }
  }

  /** Checks all of them now. Continues at the scheduled intervals. */
  probe(): void {
    for (const prober of this.#probers.values()) prober.probe();
  }

  /** Ends checking. */
  stop(): void {
    for (const prober of this.#probers.values()) prober.stop();
  }
}

/** Returns the companions of a node, where it is now. */
function companionsOf(
  node: Node,
  { config, policy }: { readonly config: ClusterConfig; readonly policy: HealthPolicy },
  begin: (target: CompanionTarget) => RunningCheck,
): readonly CheckedCompanion[] {
  return (policy.companions ?? []).flatMap((companion, at): readonly CheckedCompanion[] => {
    const address = companionAddress(node, companion);
    const { kind = "tcp", path = null } = config.companions[at] ?? {};
    if (address === null) return [];
    const target = { ...address, kind, path: path ?? "/" };
    return [{ node: node.name, companion: companion.name, target, begin: () => begin(target) }];
  });
}
