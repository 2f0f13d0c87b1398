import type { Severity } from "./document.ts";
import type { RuleId } from "./rule-ids.ts";

/** The meaning of one kind of finding. Identifiers are stable: none is ever reused for another meaning. */
export interface FindingRule {
  readonly severity: Severity;
  /** The problem, in a few words. */
  readonly title: string;
  /** What to do, unless the finding has an action of its own. */
  readonly action: string;
}

function rule(severity: Severity, title: string, action: string): FindingRule {
  return { severity, title, action };
}

/** Every rule. docs/rules.md is generated from this table. */
export const rules: { readonly [id in RuleId]: FindingRule } = {
  RC001: rule("error", "the command line cannot be parsed", "Run the command with --help."),
  RC002: rule("error", "the command failed because of an internal error", "Report the message and the command line."),
  RC003: rule(
    "error",
    "a required step did not complete",
    "Resolve what prevented the step and run the command again.",
  ),
  RC004: rule("error", "the command was interrupted", "Run the command again."),
  RC005: rule(
    "error",
    "the server cannot be reached",
    "Run rolecall context show to see which server is used and why, and check that rolecall is running there.",
  ),
  RC006: rule("error", "a file cannot be read", "Check the name and permissions of the file."),
  RC007: rule(
    "error",
    "the response of the server is not valid",
    "Check that --server is the right listener, and that rolecall has the same version there.",
  ),
  RC008: rule("error", "a change was not confirmed", "Confirm the change on a terminal, or pass --yes."),
  RC009: rule("error", "the server rejected the request", "Read the message of the server."),
  RC010: rule("error", "the policy cannot be applied", "Correct the policy file."),
  RC011: rule("warning", "the policy names a rule that does not exist", "Correct or remove the disposition."),
  RC012: rule("warning", "a review in the policy has expired", "Review the finding again, or resolve it."),
  RC013: rule(
    "error",
    "the policy tries to lower or exclude a finding marked incomplete",
    "Remove the disposition, and resolve what prevented the step.",
  ),
  RC014: rule("error", "the contexts file is not valid", "Correct the value that the message names."),
  RC015: rule("warning", "other users can read a file with a secret", "Remove their permission: chmod o-rwx FILE."),
  RC020: rule("error", "the configuration is not valid", "Correct the value that the message names."),
  RC021: rule(
    "warning",
    "the configuration has a key that was removed",
    "Remove the key, or write what the message names in its place. From 2.0 on rolecall does not start with it.",
  ),
  RC030: rule("error", "the node or cluster is unfit for the check", "Run rolecall explain with the same check."),
  RC031: rule("error", "the check is not valid", "Correct the route or parameter that the message names."),
  RC032: rule(
    "error",
    "it is not known whether a replica is attached",
    "Watch it longer, such as with --for 12s, or query a running rolecall.",
  ),
  RC033: rule("error", "the last run of a command of watch did not succeed", "Read the output of the command."),
  RC040: rule(
    "error",
    "rolecall answers fit and the node does not, for longer than max_age",
    'Run rolecall explain, and read "Shadow mode" in docs/cli.md.',
  ),
  RC041: rule(
    "error",
    "a health check in haproxy.cfg has a parameter that nodes ignore and rolecall rejects",
    "Correct the parameter before moving to rolecall.",
  ),
  RC042: rule(
    "error",
    "a health check in haproxy.cfg has a path that nodes answer and rolecall rejects",
    "Use the exact path of the route.",
  ),
  RC043: rule(
    "info",
    "rolecall answers unfit for a reason that a node cannot see",
    "Read the reason: it probably shows a problem of the cluster.",
  ),
  RC044: rule(
    "warning",
    "haproxy.cfg judges servers by something that compare does not compare",
    "Try it with a listener of rolecall in a pool without clients.",
  ),
  RC050: rule("error", "a cluster has no writable primary", "Run rolecall explain /primary."),
  RC051: rule("warning", "a node is unfit for the routes of its role", "Run rolecall explain for the node."),
  RC052: rule(
    "error",
    "a cluster is blind: none of its nodes has fresh evidence",
    "Check the network between rolecall and the nodes.",
  ),
  RC054: rule("error", "several nodes of a cluster claim to be the primary", "Stop those that do not hold the lock."),
  RC055: rule(
    "error",
    "a cluster has a primary, and its clients fail or wait",
    "Run rolecall explain /primary, and look at what it names.",
  ),
  RC053: rule("warning", "a node is fit, but has a warning", "Run rolecall explain for the node."),
  RC056: rule(
    "warning",
    "a pooler that leads to the cluster does not answer",
    "Start PgBouncer there if it has ended. If it runs, look at the network between rolecall and it.",
  ),
  RC060: rule(
    "error",
    "the management call failed",
    "Read the message. It names who refused the call: rolecall or the node.",
  ),
  RC070: rule("error", "the drain was rejected", "Check the names of cluster and node, and the duration."),
  RC080: rule("error", "the document does not conform to cli.result/v1", "Correct the tool that wrote the document."),
  RC090: rule(
    "error",
    "no evidence is stored for that time",
    "Choose a later time. A history on disk (history.directory) keeps more, up to history.max_size.",
  ),
  RC100: rule("error", "a node cannot be reached", "Check its address, its API and the network."),
  RC101: rule("warning", "the version of a node is missing or unknown", "Patroni versions 3 and 4 are supported."),
  RC102: rule("warning", "nodes of one cluster run different versions", "Finish the upgrade."),
  RC103: rule("warning", "the clock of a node differs from the clock of this machine", "Synchronise the clocks (NTP)."),
  RC104: rule(
    "error",
    "a node reports a scope that differs from its cluster's",
    "Correct the address of the node, or the scope of the cluster.",
  ),
  RC105: rule(
    "error",
    "nodes of one cluster report different system identifiers",
    "Find the node that belongs to another cluster.",
  ),
  RC106: rule(
    "warning",
    "max_age is longer than the settings of the leader lock allow",
    "Lower probe.max_age. Until then rolecall uses ttl - loop_wait - retry_timeout.",
  ),
  RC107: rule(
    "warning",
    "the address of a listener is in use",
    "A running rolecall with this configuration is fine. Else stop the process that uses it, or choose another port.",
  ),
  RC108: rule(
    "error",
    "the rendered HAProxy configuration is not valid",
    "Report it, with the `evidence` part of the JSON result.",
  ),
  RC109: rule(
    "warning",
    "a TLS certificate has expired or expires soon",
    "Renew the certificate. rolecall reloads the files when they change.",
  ),
  RC110: rule("warning", "a guard is off", "Turn the guard on, or add a reviewed disposition to a policy."),
  RC111: rule("error", "TLS files cannot be used", "Correct the file that the message names."),
  RC112: rule("error", "a cluster has no members", "Check the seeds of the cluster."),
  RC113: rule(
    "error",
    "the node password (auth of the cluster) is withheld from a node because its address is not https",
    "Enable TLS on the node's API (restapi.certfile). If plain http is intended, list the address under nodes.",
  ),
  RC114: rule(
    "warning",
    "a private key can be read by every user of the machine",
    "Restrict the file: chmod 600, or 640 with a group of its own.",
  ),
  RC115: rule(
    "error",
    "a TLS certificate is not valid yet",
    "Check the clock of this machine. If it is right, wait until the certificate is valid.",
  ),
  RC116: rule(
    "warning",
    "no state is kept across restarts, or two processes write it",
    "Give each rolecall a state_file of its own. A service of systemd with StateDirectory= needs none.",
  ),
  RC120: rule("warning", "the rendered configuration is incomplete", "Add what the message names."),
  RC121: rule(
    "warning",
    "hint tokens would cross a network in clear text",
    "Set tls on that admin listener, and pass its https address with --hint-to.",
  ),
  RC122: rule("info", "the members of the rendered configuration", "Render again when members join or leave."),
  RC124: rule(
    "warning",
    "a leader that stood still can take the lock back from the node that leads since, and what was written meanwhile is lost",
    "Upgrade Patroni to 3.0.3 or later. Until then stop Patroni on a leader that stood still before its machine goes on.",
  ),
  RC125: rule(
    "error",
    "the DCS cannot be read",
    "Check clusters[].dcs: its addresses, user and TLS files, or the rights in Kubernetes.",
  ),
  RC126: rule("error", "the DCS has no key of the cluster", "Correct dcs.prefix (Patroni's namespace) or dcs.scope."),
  RC127: rule(
    "error",
    "the DCS does not name the node that holds the lock",
    "Correct dcs.etcd, dcs.prefix or dcs.scope. The page docs/reaction-time.md describes what rolecall does until then.",
  ),
  RC128: rule(
    "error",
    "a member has no server in the haproxy.cfg",
    "Render it again (rolecall render haproxy), and reload HAProxy.",
  ),
  RC129: rule("warning", "a server of the haproxy.cfg is no member", "Remove it, or correct its name."),
  RC130: rule(
    "error",
    "a server of the haproxy.cfg has another address than its member",
    "Correct the address, or connect_address of the node.",
  ),
  RC131: rule(
    "warning",
    "no balancer asks for a member",
    "Render the configuration of the balancers again. If this rolecall serves a part of them only, add a disposition to " +
      "a policy.",
  ),
  RC132: rule(
    "warning",
    "balancers ask for a name that is no member",
    "Render the configuration of the balancers again, or correct the name there.",
  ),
  RC133: rule(
    "warning",
    "another rolecall that is followed does not feed a cluster",
    "Correct what the message names. Meanwhile this rolecall probes the cluster itself.",
  ),
  RC134: rule(
    "error",
    "this rolecall is apart from its fleet, or does not share a cluster with a member",
    "Correct what the message names. Meanwhile this rolecall goes on with what it probes and follows.",
  ),
  RC135: rule(
    "error",
    "the Runtime API of a balancer cannot be used",
    "Check that HAProxy runs, and the path and permissions of its stats socket.",
  ),
  RC136: rule(
    "error",
    "the Runtime API of a balancer lacks level admin",
    "Add level admin to the stats socket in the configuration of HAProxy, and reload it.",
  ),
  RC137: rule(
    "error",
    "a backend or server of a balancer does not exist",
    "Correct its name under balancers, map the names with servers, or let rolecall add servers with follow_members.",
  ),
  RC138: rule(
    "warning",
    "a server of a balancer has no health check in HAProxy",
    "Add check to the server in HAProxy.",
  ),
  RC139: rule(
    "warning",
    "an Envoy does not get what it subscribes to",
    "Correct the name of the cluster in Envoy or that of the pool; for a refusal, read the log of Envoy.",
  ),
  RC150: rule("error", "a file cannot be written", "Check the directory, its permissions and the free space."),
  RC166: rule(
    "error",
    "a node reports another name than the configuration",
    "Correct the address of the node. If the address is right, set member to the reported name.",
  ),
  RC167: rule(
    "error",
    "an address answers under the name of a member that is, or is listed, elsewhere",
    "Give every node a name of its own, and a restapi.connect_address at which it is reached from here. If nothing answers there, put the node under nodes.",
  ),
  RC168: rule(
    "warning",
    "a listed member is left out",
    "Give every member a name and a restapi.connect_address of its own, with a host, or add the member under nodes.",
  ),
  RC172: rule(
    "warning",
    "a member is reached at an address of discover alone, and gets no calls there",
    "Set restapi.connect_address to an address that is reached from here, or put the node under nodes.",
  ),
  RC169: rule(
    "warning",
    "a check prefers a zone that no node is in",
    "Correct the zone, set zone of the nodes, or name the tag that holds it under zones of the cluster.",
  ),
  RC170: rule(
    "warning",
    "no check asks for a companion",
    "Add with to a pool, or with=NAME to a check in the configuration. If only checks of balancers ask for it, nothing is wrong.",
  ),
  RC171: rule(
    "error",
    "a companion answers beside no node",
    "Correct its port or kind, start it, or let rolecall through to it.",
  ),
  RC176: rule(
    "warning",
    "no sender list names a replica that is known by its exporter alone",
    "Set application_name in primary_conninfo of the replica (or cluster_name) to the name of the node, or set database of the node to the address from which it connects. Until then its lag is unknown, and it is not refused when it is cut off.",
  ),
  RC178: rule(
    "error",
    "a replayed answer differs from the one that the incident file expects",
    "Correct the expected answer in the file, or report the difference with the file.",
  ),
  RC179: rule(
    "error",
    "the incident file cannot be read",
    "Save it again with rolecall incident. The page docs/incidents.md describes the format.",
  ),
  RC180: rule(
    "error",
    "the API server of Kubernetes cannot be used",
    "Correct kubernetes.kubeconfig, or run rolecall in a pod with a service account. The page docs/kubernetes-services.md says what it needs.",
  ),
  RC181: rule(
    "error",
    "rolecall may not do what it needs to at the API server of Kubernetes",
    "Grant the rights that the message names, as the Role of docs/kubernetes-services.md does.",
  ),
  RC182: rule(
    "error",
    "a Service of Kubernetes cannot be published",
    "Create the Service without a selector, or correct its name or its port under kubernetes.services.",
  ),
  RC183: rule(
    "error",
    "something else decides where a Service of Kubernetes leads",
    "Remove what the message names, or let rolecall publish a Service with another name.",
  ),
  RC192: rule(
    "warning",
    "the history does not state the nodes and settings of the cluster",
    "An earlier version wrote it. Correct the nodes and settings in the incident file before you replay it.",
  ),
  RC200: rule(
    "error",
    "the console of a pooler cannot be used",
    "Check that PgBouncer runs, its address, and that the user is in admin_users and has this password.",
  ),
  RC201: rule(
    "error",
    "a process of a pooler is not reached, or not alone",
    "List each process as a pooler of its own, with the folder of its Unix socket, and set processes.",
  ),
  RC202: rule(
    "error",
    "a database of a pooler cannot be paused, or leads elsewhere",
    "Correct databases of the pooler, or the configuration of PgBouncer.",
  ),
  RC203: rule("warning", "clients of a pooler may wait long or fail", "Correct the setting that the message names."),
  RC204: rule(
    "info",
    "clients of a pooler are not held after the loss of a primary",
    "Set hold_on_loss of the pooler, if its clients shall wait in place of being refused.",
  ),
  RC210: rule(
    "error",
    "a seamless switchover or restart did not happen: nothing was changed",
    "Correct what the message names, and try it with --dry-run.",
  ),
  RC211: rule(
    "error",
    "how a seamless switchover or restart ends is not known, or clients may still be held",
    "Run rolecall status to see who leads, and rolecall doctor to see whether anything is paused.",
  ),
  RC212: rule(
    "error",
    "clients of a pooler may still wait after a seamless switchover or restart, or were not led to the primary",
    "Check the pooler that the message names: its process, its console and its file. rolecall goes on to resume and to lead it.",
  ),
  RC213: rule(
    "error",
    "after a seamless switchover or restart another node is the primary than the one that was asked for",
    "Run rolecall status to see who leads, and rolecall explain for the node that was asked for.",
  ),
  RC220: rule(
    "error",
    "a balancer or pooler has sessions on a node that must not have them",
    "Run the command of the finding.",
  ),
  RC221: rule("error", "a fit node gets no new sessions while others do", "Run the command of the finding."),
  RC222: rule(
    "error",
    "a balancer has no server for a member, or a server that is no member",
    "Run the command of the finding, or add the server to the configuration of the balancer.",
  ),
  RC223: rule("error", "a balancer or pooler cannot be read", "Check that it runs, and its address and permissions."),
  RC230: rule("error", "a write as clients make it fails", "Follow the advice of the message."),
  RC231: rule("error", "a read as clients make it fails", "Follow the advice of the message."),
  RC232: rule(
    "error",
    "clients reach another database than the cluster's",
    "Look at once at the servers of the balancer or pooler that the message names.",
  ),
};

/** Whether a rule with this identifier exists. */
export function isRuleId(text: string): text is RuleId {
  return Object.hasOwn(rules, text);
}
