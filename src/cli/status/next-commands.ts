import type { StatusCluster, StatusNode } from "../client/cluster-status.ts";
import type { Arguments } from "../framework/arguments.ts";

/** The options that say where a command finds the clusters. A command to run next needs them too. */
const sourceNames = ["context", "server", "config", "discover", "set", "token-file", "user-file", "ca"];

/** Returns the options of a command line that say where the clusters are, ready for a shell. */
export function sourceWords(args: Arguments): readonly string[] {
  return sourceNames.flatMap((name) => args.list(name).map((value) => `--${name} ${shellWord(value)}`));
}

/** The command that explains why a node is unfit for its role. @param source see {@link sourceWords} */
export function explainNodeCommand(cluster: StatusCluster, node: StatusNode, source: readonly string[]): string {
  const route = dutyRoute(cluster, node);
  return ["rolecall explain", route, "--node", shellWord(`${cluster.cluster}/${node.node}`), ...source].join(" ");
}

/** The command that explains why no node of a cluster is fit for writes. @param source see {@link sourceWords} */
export function explainClusterCommand(cluster: StatusCluster, source: readonly string[]): string {
  return ["rolecall explain /primary --cluster", shellWord(cluster.cluster), ...source].join(" ");
}

/** The route that the node should serve: writes for the holder of the lock and a former primary, else reads. */
function dutyRoute({ leader }: StatusCluster, { node, role, was }: StatusNode): string {
  const last = was ?? role;
  if (last === "standby_leader") return "/standby-leader";
  return node === leader || last === "primary" ? "/primary" : "/replica";
}

/** Quotes a word for a POSIX shell, if it needs quotes. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
