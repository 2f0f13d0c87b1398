import type { Diagnostic, Location, Result } from "../result/document.ts";
import { safeLines, type Style } from "./style.ts";

/** Renders findings as text: the message, then the action. Findings that a policy excluded are dimmed. */
export function renderFindings(diagnostics: readonly Diagnostic[], style: Style): string {
  return diagnostics.map((diagnostic) => renderFinding(diagnostic, style)).join("");
}

/**
 * The findings to show as text. If the command ended early, the finding about the cause is enough: the findings about
 * the checks that were never reached, or were interrupted (RC004), are left out (RC003).
 */
export function shownFindings({ diagnostics, coverage }: Result): readonly Diagnostic[] {
  const hasCause = diagnostics.some(({ rule_id, incomplete }) => incomplete === true && rule_id !== "RC003");
  const isInterrupted = diagnostics.some(({ rule_id }) => rule_id === "RC004");
  const unreached = coverage
    .filter(({ status }) => status === "not_checked" || isInterrupted)
    .map(({ id }) => `check ${id} is `);
  return diagnostics.filter(
    ({ rule_id, message }) => !hasCause || rule_id !== "RC003" || !unreached.some((start) => message.startsWith(start)),
  );
}

/** Formats a location: `rolecall.yaml:12`, or `file#pointer` if the line is unknown. */
export function formatLocation({ file, line, pointer }: Location): string {
  const place = line === undefined ? file : `${file}:${line}`;
  return line === undefined && pointer !== undefined && pointer !== "" ? `${place}#${pointer}` : place;
}

function renderFinding(diagnostic: Diagnostic, style: Style): string {
  const { rule_id: id, severity, message, action, location, disposition, review } = diagnostic;
  const paint =
    disposition === "excluded" ? style.dim : { error: style.red, warning: style.yellow, info: style.dim }[severity];
  const place = location === undefined ? "" : `${formatLocation(location)}: `;
  const reviewed =
    review === undefined ? "" : `  ${disposition}: ${review.reason} (${review.reviewed_by}, ${review.reviewed_at})\n`;
  return (
    safeLines(`${place}${message}\n`).replace(/^/, `${paint(`${severity} ${id}`)}  `) +
    style.dim(safeLines(`  ${action}\n${reviewed}`))
  );
}
