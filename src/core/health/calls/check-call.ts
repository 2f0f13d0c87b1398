import type { Node } from "../../cluster/node.ts";
import type { ClusterView } from "../evidence/leadership/cluster-view.ts";
import { withholdsPassword } from "../evidence/node/node-password.ts";
import { precheck, type PrecheckInput } from "./precheck.ts";
import type { Refusal } from "./refusal.ts";
import { refuseUnproved } from "./unproved.ts";

/** Why a call is not forwarded to its target by the current evidence; `null` if it is. */
export function checkCall(input: PrecheckInput): Refusal | null {
  const { target, view } = input;
  return (
    refuseWithoutApi(target.node) ??
    refuseUnproved(target) ??
    refusePlaintextPassword(target.node, view) ??
    precheck(input)
  );
}

/** A node that is known through its exporter alone takes no calls. */
function refuseWithoutApi({ api, name }: Node): Refusal | null {
  return api === null ? { status: 503, error: "no_api", message: `Cannot forward the call: ${name} has no API` } : null;
}

/**
 * Refuses to send the node password without TLS if TLS is configured. The address may come from a member list, which
 * must not be able to make us send the password unencrypted.
 */
function refusePlaintextPassword(node: Node, { policy }: ClusterView): Refusal | null {
  if (!withholdsPassword(node, policy)) return null;
  const message = `Cannot forward the call: the API address of ${node.name} must be https in a cluster with TLS, got ${node.api}`;
  return { status: 503, error: "password_in_clear", message };
}
