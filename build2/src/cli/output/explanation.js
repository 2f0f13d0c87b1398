import { formatDuration } from "./figures.js";
import { safe } from "./style.js";
/** Renders the verdict, then one line per rule: value, limit, source and age of the evidence. */
export function renderExplanation(explanation, style) {
    const { cluster, node, check, fit, reason, decisive, rules } = explanation;
    const verdict = fit === null ? style.yellow("not known") : fit ? style.green("fit") : style.red(`unfit: ${reason}`);
    const lines = rules.map((rule) => renderRule(rule, rule.rule === decisive && rule.outcome === "refuse", style));
    return `${style.bold(`${cluster}/${node}`)} for ${check}: ${verdict}\n${lines.join("")}`;
}
function renderRule({ rule, outcome, value, limit, age_ms: age, source }, isDecisive, style) {
    const marks = {
        pass: style.green("ok"),
        skip: style.dim("- "),
        "not known": style.yellow("? "),
    };
    const mark = marks[outcome] ?? style.red(isDecisive ? "NO" : "no");
    const limitText = limit === null ? "" : `  [${safe(limit)}]`;
    const sourceText = source === "" ? "" : style.dim(`  (${safe(source)}${age === null ? "" : `, ${formatDuration(age)} old`})`);
    return `  ${mark}  ${rule.padEnd(18)} ${safe(value)}${limitText}${sourceText}\n`;
}
//# sourceMappingURL=explanation.js.map