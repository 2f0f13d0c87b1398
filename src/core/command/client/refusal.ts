import { isObject, parseJson } from "../../cluster/values/json.ts";
import type { RolecallReply } from "../connect/exchange.ts";

/** What to do about the refusals that rolecall itself makes, by their error code. */
const ownActions: ReadonlyMap<string, string> = new Map([
  ["management_off", "Set management: on for a health listener of rolecall, and pass its URL with --server."],
  ["not_allowed", "Run the command on a machine that the listener's allow list has, or add this one to the list."],
  [
    "unauthorized",
    "Pass --token-file or --user-file with a credential of the listener, or select a context that has it.",
  ],
  ["method_not_allowed", "Check that --server is the right listener."],
  ["not_drained", "Nothing to do: rolecall drain --list lists the drained nodes."],
  ["not_distrusted", "Nothing to do: rolecall drain --list lists the distrusted nodes."],
  ["distrusted", "Run rolecall drain NODE --distrust --end first, if the node is to be trusted again."],
  ["no_fleet", "Pass the URL of a member's admin listener with --server."],
  ["unknown_member", "Pass the name of a member: rolecall status fleet lists them."],
  ["member_not_drained", "Nothing to do: rolecall status fleet lists the members, and which are drained."],
  ["apart", "Run the command against a member that reaches etcd: rolecall status fleet says what is wrong here."],
  ["unknown_candidate", "Pass the name of a member as --candidate: rolecall status lists them."],
  ["candidate_down", "Pass another --candidate, or run rolecall status to see why this one does not answer."],
  ["nofailover", "Pass another --candidate, or remove the tag nofailover from this node."],
  ["not_sync", "Pass a synchronous standby as --candidate: rolecall status -o wide shows them."],
  ["no_candidate", "Run rolecall status: the cluster has no other member that could lead."],
  ["leader_mismatch", "Leave out --leader, or pass the present leader: rolecall status shows it."],
  ["is_leader", "Pass a replica: rolecall status shows the roles."],
  ["bad_request", "rolecall refused the call: correct what the message names."],
]);

/**
 * Says what to do about a refused call. A reply that rolecall passes on has X-Rolecall-Node and no X-Rolecall-Reason;
 * rolecall's own replies may have both.
 * @param fallback the action for other refusals by rolecall
 */
export function refusalAction({ status, headers, text }: RolecallReply, fallback: string): string {
  const node = headers["x-rolecall-node"];
  if (typeof node === "string" && headers["x-rolecall-reason"] === undefined)
    return `${node} refused the call: read its message, and its log.`;
  const document = parseJson(text);
  const error = isObject(document) && typeof document["error"] === "string" ? document["error"] : "";
  return ownAction(status === 401 ? "unauthorized" : error) ?? fallback;
}

/** What to do about a refusal by rolecall. @param error its code, such as `nofailover` @returns `null` if unknown */
export function ownAction(error: string): string | null {
  return ownActions.get(error) ?? null;
}
