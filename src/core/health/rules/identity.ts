import type { DatabaseAddress } from "../../cluster/node.ts";
import { companionAddress } from "../evidence/node/companions.ts";
import { identityMismatch, isDifferentAddress, mismatchFigure } from "../evidence/node/identity.ts";
import { withholdsPassword } from "../evidence/node/node-password.ts";
import { fit, unfit } from "../verdict.ts";
import { shownOnly, skipped, type NodeCheck, type Rule } from "./rule.ts";

/** The answer is of the configured node, of its cluster and system (rule 7). */
const identity: Rule = {
  judge({ view, observation, report }) {
    const mismatch = identityMismatch(view.cluster, observation, view.policy);
    if (mismatch === null) return fit;
    return unfit(mismatch, mismatchFigure(view.cluster, report, mismatch));
  },
  show({ view: { cluster, policy }, observation: { node }, report }) {
    if (!policy.guards.sameSystem) return [skipped("identity", "guard same_system is off")];
    const value = `scope ${report.scope}, name ${report.name ?? "not stated"}, system ${report.system}`;
    const system = cluster.position?.system ?? "unknown";
    return [{ rule: "identity", value, limit: `scope ${cluster.scope}, name ${node.member}, system ${system}` }];
  },
};

const nodePassword = shownOnly(({ view, observation: { node } }) => {
  const why = `withheld: ${node.api} is not https and comes from a member list, not from the configuration`;
  return withholdsPassword(node, view.policy) ? [skipped("node password", why)] : [];
});

/** Whether an address that the check names is that of a companion that it asks for: clients connect there. */
function isOfCompanion(
  { view: { policy }, observation: { node }, check }: NodeCheck,
  stated: DatabaseAddress,
): boolean {
  const asked = policy.companions?.filter(({ name }) => check.companions.includes(name)) ?? [];
  return asked.some((companion) => {
    const address = companionAddress(node, companion);
    return address !== null && !isDifferentAddress(stated, address);
  });
}

/** The check names the node's own database, or a companion that it asks for, if it names an address. */
export const ownDatabase: Rule<NodeCheck> = {
  judge(context) {
    const { database } = context.check;
    if (database === null || !isDifferentAddress(database, context.observation.node.database)) return fit;
    return isOfCompanion(context, database) ? fit : unfit("moved");
  },
  show({ observation: { node }, check: { database } }) {
    if (database === null) return [];
    const limit = node.database === null ? "not known" : `${node.database.host}:${node.database.port}`;
    const value = `the check names ${database.host}:${database.port}`;
    return [{ rule: "database address", value, limit, source: "the check" }];
  },
};

/** Whether this is the node that the check is about. */
export const identityRules: readonly Rule[] = [identity, nodePassword, ownDatabase];
