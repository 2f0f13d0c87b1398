import { formatDuration } from "../../core/command/output/figures.ts";
import { safe, type Style } from "../../core/command/output/style.ts";

/** One rule of an explanation. The fields are those of the JSON document. */
export interface PrintedRule {
  readonly rule: string;
  /** `pass`, `refuse`, `skip` or `not known`; a newer server may send others. */
  readonly outcome: string;
  readonly value: string;
  readonly limit: string | null;
  readonly age_ms: number | null;
  readonly source: string;
  readonly reason: string | null;
}

/** Why a node is fit or unfit for a check. */
export interface PrintedExplanation {
  readonly cluster: string;
  readonly node: string;
  readonly check: string;
  /** `null`: not known. The node is fit as far as it was seen, but not watched for long enough. */
  readonly fit: boolean | null;
  readonly reason: string | null;
  /** The figure of the reason, such as `12MB`; how long the node was watched if `fit` is `null`. */
  readonly detail?: string | null;
  /** As of a node of the status. */
  readonly attachment?: "known" | "not known" | null;
  /** The rule that decided the verdict. */
  readonly decisive: string | null;
  readonly rules: readonly PrintedRule[];
  /** What to know of the node although no rule uses it. */
  readonly remarks: readonly string[];
}

/** Renders the verdict, then one line per rule: value, limit, source and age of the evidence. */
export function renderExplanation(explanation: PrintedExplanation, style: Style): string {
  const { cluster, node, check, fit, reason, decisive, rules, remarks } = explanation;
  const verdict = fit === null ? style.yellow("not known") : fit ? style.green("fit") : style.red(`unfit: ${reason}`);
  const lines = rules.map((rule) => renderRule(rule, rule.rule === decisive && rule.outcome === "refuse", style));
  const notes = remarks.map((remark) => `  ${style.yellow("note")}  ${safe(remark)}\n`);
  return `${style.bold(`${cluster}/${node}`)} for ${check}: ${verdict}\n${notes.join("")}${lines.join("")}`;
}

function renderRule(
  { rule, outcome, value, limit, age_ms: age, source }: PrintedRule,
  isDecisive: boolean,
  style: Style,
): string {
  const marks: { readonly [outcome: string]: string } = {
    pass: style.green("ok"),
    skip: style.dim("- "),
    "not known": style.yellow("? "),
  };
  const mark = marks[outcome] ?? style.red(isDecisive ? "NO" : "no");
  const limitText = limit === null ? "" : `  [${safe(limit)}]`;
  const sourceText =
    source === "" ? "" : style.dim(`  (${safe(source)}${age === null ? "" : `, ${formatDuration(age)} old`})`);
  return `  ${mark}  ${rule.padEnd(18)} ${safe(value)}${limitText}${sourceText}\n`;
}
