import { formatDuration } from "../../core/command/output/figures.ts";
import type { PrintedExplanation, PrintedRule } from "./explanation.ts";
import { remedyOf } from "./remedies.ts";
import { safe, type Style } from "../../core/command/output/style.ts";

/** The verdict on one node of a cluster, with its rules. */
export interface ExplainedNode extends Omit<PrintedExplanation, "cluster" | "check"> {
  readonly detail: string | null;
  /** Whether anything is known for or against it now. Absent: it is. */
  readonly isKnown?: boolean;
}

/** Why a cluster is fit or unfit for a check. */
export interface ClusterExplanation {
  readonly cluster: string;
  readonly check: string;
  /** `null`: not known. No node is known to be fit, but one may be. */
  readonly fit: boolean | null;
  readonly reason: string | null;
  /** The node that the check chooses, or `null`. */
  readonly node: string | null;
  readonly nodes: readonly ExplainedNode[];
  /** Why no node is known. Absent: some are, or the reason is not known. */
  readonly cause?: string;
}

/** Renders the verdict, a line or two for each node, and what would make an unfit node fit. */
export function renderClusterExplanation(explanation: ClusterExplanation, style: Style): string {
  const { cluster, check, fit, reason, node, nodes } = explanation;
  const verdict =
    fit === null
      ? style.yellow("not known")
      : fit
        ? style.green(`fit (${safe(node ?? "?")})`)
        : style.red(`unfit: ${reason}`);
  const width = Math.max(0, ...nodes.map((row) => row.node.length));
  const lines = nodes.map((row) => renderNode(row, width, style));
  const remedies = fit ? [] : renderRemedies(nodes, style);
  const why = explanation.cause === undefined ? "" : `: ${safe(explanation.cause)}`;
  const none = nodes.length === 0 ? `  no node is known${why}\n` : "";
  return `${style.bold(safe(cluster))} for ${check}: ${verdict}\n${lines.join("")}${none}${remedies.join("")}`;
}

function renderNode(
  { node, fit, reason, detail, decisive, rules, remarks }: ExplainedNode,
  width: number,
  style: Style,
): string {
  const name = style.bold(safe(node)) + " ".repeat(width - node.length);
  const notes = remarks.map((remark) => `${" ".repeat(width + 8)}${style.yellow(safe(remark))}\n`).join("");
  if (fit === null)
    return `  ${style.yellow("? ")}  ${name}  not known${detail === null ? "" : `: ${safe(detail)}`}\n${notes}`;
  if (fit) return `  ${style.green("ok")}  ${name}  fit\n${notes}`;
  const rule = rules.find((candidate) => candidate.rule === decisive && candidate.outcome === "refuse");
  const figure = detail === null ? "" : ` ${safe(detail)}`;
  const because = rule === undefined ? "" : `\n${" ".repeat(width + 8)}${renderRule(rule, style)}`;
  return `  ${style.red("NO")}  ${name}  ${style.yellow(`${reason ?? "?"}${figure}`)}${because}\n${notes}`;
}

function renderRule({ rule, value, limit, source, age_ms: age }: PrintedRule, style: Style): string {
  const limitText = limit === null ? "" : `  [${safe(limit)}]`;
  const ageText = age === null ? "" : `, ${formatDuration(age)} old`;
  return `${rule}: ${safe(value)}${limitText}${source === "" ? "" : style.dim(`  (${safe(source)}${ageText})`)}`;
}

/** One line for each reason that a remedy is known for, with the nodes that it applies to. */
function renderRemedies(nodes: readonly ExplainedNode[], style: Style): readonly string[] {
  const reasons = [...new Set(nodes.flatMap(({ reason }) => reason ?? []))];
  const lines = reasons.flatMap((reason) => {
    const remedy = remedyOf(reason);
    const affected = nodes.filter((row) => row.reason === reason).map((row) => safe(row.node));
    const shown =
      affected.length > 5 ? `${affected.slice(0, 5).join(", ")} and ${affected.length - 5} more` : affected.join(", ");
    return remedy === null ? [] : [`  ${shown} (${reason}): ${remedy}\n`];
  });
  return lines.length === 0 ? [] : [style.dim("A node becomes fit if its reason goes away:\n"), ...lines];
}
