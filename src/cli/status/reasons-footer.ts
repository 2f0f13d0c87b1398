import { countText } from "../../core/health/wording.ts";
import { withoutPrimary } from "../../core/health/conditions/primary-loss.ts";
import { hardReasons, isReason, softReasons } from "../../core/health/reason.ts";
import { reasonLink } from "../../core/config/reason-link.ts";
import type { StatusCluster, StatusNode } from "../../core/command/client/cluster-status.ts";
import { safe, type Style } from "../../core/command/output/style.ts";
import { textWidth, wrapWords } from "../../core/command/output/words.ts";
import { explainClusterCommand, explainNodeCommand } from "./next-commands.ts";
import type { ShownCluster } from "./selection/shown-cluster.ts";

/** One thing that is wrong, with what to read and what to run next. */
interface FooterEntry {
  readonly heading: string;
  readonly link: string | null;
  /** The command that explains it, for the first cluster or node with it. */
  readonly command: string;
}

/** Every reason, the worst first. */
const reasonOrder: readonly string[] = [...hardReasons, ...softReasons];

/**
 * Renders what follows the table: each distinct reason with its number of nodes, the section of the documentation on
 * it, and the command that explains the first such node. No lines if all is well.
 * @param width the greatest length of a line; longer commands go on after a backslash
 * @param source the options that say where the clusters are
 */
export function reasonsFooter(
  clusters: readonly ShownCluster[],
  { width, style }: { readonly width: number; readonly style: Style },
  source: readonly string[],
): readonly string[] {
  const entries = [...outages(clusters, source), ...reasons(clusters, source), ...warnings(clusters, source)];
  return entries.flatMap(({ heading, link, command }) => [
    ...wrapWords(safe(`${heading}${link === null ? "" : `: ${link}`}`), width, 2).map(style.yellow),
    ...commandLines(safe(command), width).map(style.dim),
  ]);
}

/** The clusters that no node can write in, although nodes answer. */
function outages(clusters: readonly ShownCluster[], source: readonly string[]): readonly FooterEntry[] {
  const lost = clusters.filter(({ cluster }) => cluster.situation.condition === withoutPrimary.status.condition);
  const [first] = lost;
  if (first === undefined) return [];
  return [
    {
      heading: `${withoutPrimary.status.condition} (${clusterNames(lost)})`,
      link: null,
      command: explainClusterCommand(first.cluster, source),
    },
  ];
}

function reasons(clusters: readonly ShownCluster[], source: readonly string[]): readonly FooterEntry[] {
  const unfit = nodesOf(clusters).filter(({ node }) => node.reason !== null && node.condition === "unfit");
  const found = [...new Set(unfit.map(({ node }) => node.reason ?? ""))];
  return found
    .sort((a, b) => rankOf(a) - rankOf(b))
    .map((reason) =>
      entryOf(reason, { rows: unfit.filter(({ node }) => node.reason === reason), source, link: linkOf(reason) }),
    );
}

function warnings(clusters: readonly ShownCluster[], source: readonly string[]): readonly FooterEntry[] {
  const rows = nodesOf(clusters).filter(({ node }) => node.warning !== null && node.reason === null);
  return rows.length === 0 ? [] : [entryOf("warning", { rows, source, link: null })];
}

interface NodeInCluster {
  readonly cluster: StatusCluster;
  readonly node: StatusNode;
}

interface EntryDetails {
  /** The nodes concerned: at least one. */
  readonly rows: readonly NodeInCluster[];
  readonly source: readonly string[];
  readonly link: string | null;
}

function entryOf(what: string, { rows, source, link }: EntryDetails): FooterEntry {
  const [first] = rows;
  const count = countText(rows.length, "node");
  const command = first === undefined ? "" : explainNodeCommand(first.cluster, first.node, source);
  return { heading: `${what} (${count})`, link, command };
}

function nodesOf(clusters: readonly ShownCluster[]): readonly NodeInCluster[] {
  return clusters.flatMap(({ cluster, nodes }) => nodes.map((node) => ({ cluster, node })));
}

/** A newer server may send reasons that this version does not know: they are last. */
function rankOf(reason: string): number {
  const at = reasonOrder.indexOf(reason);
  return at < 0 ? reasonOrder.length : at;
}

function linkOf(reason: string): string | null {
  return isReason(reason) ? reasonLink(reason) : null;
}

function clusterNames(rows: readonly ShownCluster[]): string {
  const names = rows.slice(0, 5).map(({ cluster }) => cluster.cluster);
  return rows.length > names.length ? `${names.join(", ")} and ${rows.length - names.length} more` : names.join(", ");
}

/** Wraps a command so that it can still be pasted into a shell. Its words are never shortened. */
function commandLines(command: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of command.split(" ")) {
    const line = lines.at(-1);
    if (line !== undefined && textWidth(line) + 1 + textWidth(word) <= width - 2) lines[lines.length - 1] += ` ${word}`;
    else lines.push(`${line === undefined ? "  " : "    "}${word}`);
  }
  return lines.map((line, index) => (index === lines.length - 1 ? line : `${line} \\`));
}
