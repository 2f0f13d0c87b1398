import type { Node } from "../../../cluster/node.ts";
import { secretProblem } from "../../../cluster/values/secret-destination.ts";
import type { HealthPolicy } from "../../health-policy.ts";

/**
 * Whether the node password is withheld from a node: a member list gives it an http address although the cluster has
 * TLS. Otherwise anybody who can add a member to a list would receive the password in clear text.
 */
export function withholdsPassword({ api }: Pick<Node, "api">, { clearPasswordFor }: HealthPolicy): boolean {
  if (api === null || clearPasswordFor === undefined) return false;
  const word = clearPasswordFor.includes(api) ? "configured" : "proved";
  return secretProblem("node_password", { address: api, word, expectsTls: true }) !== null;
}
