import type { Severity } from "./document.ts";

/** What a finding of one kind means, and what to do. Identifiers are stable: they are never given to another meaning. */
export interface Rule {
  readonly severity: Severity;
  /** What is wrong, in a few words. */
  readonly title: string;
  /** What to do, where the finding itself does not say. */
  readonly action: string;
}

function rule(severity: Severity, title: string, action: string): Rule {
  return { severity, title, action };
}

/** Their identifiers, in order. */
export const ruleIds = [
  "RC001",
  "RC002",
  "RC003",
  "RC004",
  "RC005",
  "RC006",
  "RC007",
  "RC008",
  "RC009",
  "RC010",
  "RC011",
  "RC012",
  "RC013",
  "RC020",
  "RC030",
  "RC031",
  "RC040",
  "RC041",
  "RC042",
  "RC043",
  "RC050",
  "RC051",
  "RC052",
  "RC060",
  "RC070",
  "RC080",
  "RC100",
  "RC101",
  "RC102",
  "RC103",
  "RC104",
  "RC105",
  "RC106",
  "RC107",
  "RC108",
  "RC109",
  "RC110",
  "RC111",
  "RC112",
  "RC113",
  "RC120",
] as const;

export type RuleId = (typeof ruleIds)[number];

/** Every rule. docs/rules.md is this table. */
export const rules: { readonly [id in RuleId]: Rule } = {
  RC001: rule("error", "the command line is not understood", "Run the command with --help."),
  RC002: rule(
    "error",
    "the command failed by a mistake of rolecall's own",
    "Report it with the message and the command line.",
  ),
  RC003: rule(
    "error",
    "a required check did not complete",
    "Remove what kept it from completing and run the command again.",
  ),
  RC004: rule("error", "the command was interrupted", "Run it again and let it end."),
  RC005: rule("error", "the server cannot be reached", "Check --server, and that rolecall serves there."),
  RC006: rule("error", "a file cannot be read", "Check its name and permissions."),
  RC007: rule(
    "error",
    "the server's answer is not understood",
    "Check that --server is the right listener of a rolecall of this version.",
  ),
  RC008: rule("error", "a change was not confirmed", "Confirm on a terminal, or pass --yes."),
  RC009: rule("error", "the server refused what was asked", "Read the message: it is the server's own."),
  RC010: rule("error", "the policy cannot be applied", "Correct the policy file."),
  RC011: rule("warning", "the policy speaks of a rule that does not exist", "Correct or remove the disposition."),
  RC012: rule("warning", "a review in the policy has expired", "Review the finding again, or resolve it."),
  RC013: rule(
    "error",
    "the policy tries to lower or exclude incomplete work",
    "Remove the disposition and make the work complete.",
  ),
  RC020: rule("error", "the configuration is wrong", "Correct the value named."),
  RC030: rule("error", "the check is refused", "Ask rolecall explain for the rules one by one."),
  RC031: rule("error", "the check is not understood", "Correct the route or parameter named."),
  RC040: rule(
    "error",
    "rolecall and a node answered differently",
    "Ask rolecall explain, and read docs/cli.md, Shadow mode.",
  ),
  RC041: rule(
    "error",
    "a health check in haproxy.cfg has a parameter that nodes ignore and rolecall refuses",
    "Correct it before switching over.",
  ),
  RC042: rule(
    "error",
    "a health check in haproxy.cfg has a path that nodes answer and rolecall refuses",
    "Write the route's exact path.",
  ),
  RC043: rule(
    "info",
    "rolecall refuses for a reason that a node cannot see",
    "Read the reason: it is likely a finding about the cluster.",
  ),
  RC050: rule(
    "error",
    "a cluster has no primary that may be written to",
    "Ask rolecall explain /primary of its nodes.",
  ),
  RC051: rule("warning", "a node does not serve as what it is", "Ask rolecall explain of that node."),
  RC052: rule("error", "a cluster is out of sight", "Check the network between rolecall and the nodes."),
  RC060: rule("error", "the management call failed", "Read the message: it is the node's own."),
  RC070: rule("error", "the drain was refused", "Check the names of cluster and node, and the span of time."),
  RC080: rule("error", "the document does not conform to cli.result/v1", "Correct the tool that wrote it."),
  RC100: rule("error", "a node cannot be reached", "Check its address, its API and the network."),
  RC101: rule("warning", "a node does not say its version, or one that is not known", "Expected are versions 3 and 4."),
  RC102: rule("warning", "nodes of one cluster run different versions", "Finish the upgrade."),
  RC103: rule("warning", "a node's clock and this machine's differ", "Synchronise the clocks (NTP)."),
  RC104: rule(
    "error",
    "a node states another scope than its cluster's",
    "Correct the node's address, or the cluster's scope.",
  ),
  RC105: rule(
    "error",
    "nodes of one cluster state different system identifiers",
    "Find the node that belongs to another cluster.",
  ),
  RC106: rule(
    "warning",
    "max_age is longer than the cluster's lock allows",
    "Lower probe.max_age, or know that the cluster's bound wins.",
  ),
  RC107: rule(
    "warning",
    "a listener's address is not free",
    "Stop what listens there, or choose another port; a running rolecall of this configuration is no fault.",
  ),
  RC108: rule("error", "the rendered HAProxy configuration is not valid", "Report it, with the evidence."),
  RC109: rule(
    "warning",
    "a TLS certificate is about to expire, or has",
    "Renew it; the files are read again when they change.",
  ),
  RC110: rule("warning", "a guard is off", "Switch it on, or review it in a policy."),
  RC111: rule("error", "TLS files cannot be used", "Correct the file named."),
  RC112: rule("error", "a cluster has no members", "Check its seeds."),
  RC113: rule(
    "error",
    "the node password is withheld from a node because its address is not https",
    "Enable TLS on the node's API (restapi.certfile). If plain http is intended, list the address under nodes.",
  ),
  RC120: rule("warning", "something is missing for the rendered configuration", "Add what the message names."),
};

/** Whether a rule of this name exists. */
export function isRuleId(text: string): text is RuleId {
  return Object.hasOwn(rules, text);
}
