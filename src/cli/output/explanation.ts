import { formatDuration } from "./figures.ts";
import { safe, type Style } from "./style.ts";

/** One rule as it was applied. */
export interface PrintedRule {
  readonly rule: string;
  /** `pass`, `refuse` or `skip`. */
  readonly outcome: string;
  readonly value: string;
  readonly limit: string | null;
  readonly age_ms: number | null;
  readonly source: string;
  readonly reason: string | null;
}

/** Why a node gets the answer it gets. */
export interface PrintedExplanation {
  readonly cluster: string;
  readonly node: string;
  readonly check: string;
  readonly fit: boolean;
  readonly reason: string | null;
  /** The rule that decided. */
  readonly decisive: string | null;
  readonly rules: readonly PrintedRule[];
}

/** The verdict, then rule by rule what was seen, the limit, where it comes from and how old that is. */
export function renderExplanation(told: PrintedExplanation, style: Style): string {
  const verdict = told.fit ? style.green("fit") : style.red(`unfit: ${told.reason}`);
  const lines = told.rules.map((rule) =>
    renderRule(rule, rule.rule === told.decisive && rule.outcome === "refuse", style),
  );
  return `${style.bold(`${told.cluster}/${told.node}`)} for ${told.check}: ${verdict}\n${lines.join("")}`;
}

function renderRule(
  { rule, outcome, value, limit, age_ms: age, source }: PrintedRule,
  isDecisive: boolean,
  style: Style,
): string {
  const mark =
    outcome === "pass" ? style.green("ok") : outcome === "skip" ? style.dim("- ") : style.red(isDecisive ? "NO" : "no");
  const measure = limit === null ? "" : `  [${safe(limit)}]`;
  const from =
    source === "" ? "" : style.dim(`  (${safe(source)}${age === null ? "" : `, ${formatDuration(age)} old`})`);
  return `  ${mark}  ${rule.padEnd(18)} ${safe(value)}${measure}${from}\n`;
}
