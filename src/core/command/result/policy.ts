import type { Diagnostic } from "./document.ts";
import { policyDiagnostic, type Disposition, type Policy } from "./policy-file.ts";
import { isRuleId } from "./rules.ts";

/**
 * Applies a policy to findings. An excluded finding stays listed but no longer counts; a lowered one gets the lower
 * severity. Findings about incomplete work can be neither lowered nor excluded (`rolecall result schema result`).
 * @returns the findings, followed by findings about the policy itself
 */
export function applyPolicy(
  { dispositions, problems }: Policy,
  diagnostics: readonly Diagnostic[],
  nowMs: number,
): readonly Diagnostic[] {
  const unknown = dispositions.filter(({ ruleId }) => !isRuleId(ruleId));
  const expired = dispositions.filter(({ expiresMs }) => expiresMs !== null && expiresMs <= nowMs);
  const valid = dispositions.filter((disposition) => !unknown.includes(disposition) && !expired.includes(disposition));
  const overreaching = valid.filter((disposition) =>
    diagnostics.some((diagnostic) => diagnostic.incomplete === true && matches(disposition, diagnostic)),
  );
  const reviewed = diagnostics.map((diagnostic) => {
    const disposition =
      diagnostic.incomplete === true ? undefined : valid.find((candidate) => matches(candidate, diagnostic));
    return disposition === undefined ? diagnostic : withDisposition(diagnostic, disposition);
  });
  return [
    ...reviewed,
    ...problems,
    ...unknown.map(({ ruleId, source }) =>
      policyDiagnostic("RC011", `Cannot apply the disposition: there is no rule ${JSON.stringify(ruleId)}`, source),
    ),
    ...expired.map(({ ruleId, source, expiresMs }) =>
      policyDiagnostic("RC012", `The review of ${ruleId} expired at ${new Date(expiresMs ?? 0).toISOString()}`, source),
    ),
    ...overreaching.map(({ ruleId, effect, source }) =>
      policyDiagnostic("RC013", `Cannot make ${ruleId} ${effect}: the finding is about incomplete work`, source),
    ),
  ];
}

function withDisposition(diagnostic: Diagnostic, { effect, review }: Disposition): Diagnostic {
  if (effect === "excluded") return { ...diagnostic, disposition: effect, review };
  const isLower = rank(effect) < rank(diagnostic.severity);
  return {
    ...diagnostic,
    severity: isLower ? effect : diagnostic.severity,
    disposition: `lowered to ${effect}`,
    review,
  };
}

function rank(severity: Diagnostic["severity"]): number {
  return ["info", "warning", "error"].indexOf(severity);
}

function matches({ ruleId, location }: Disposition, diagnostic: Diagnostic): boolean {
  if (ruleId !== diagnostic.rule_id) return false;
  const { file, line, pointer, kind } = location;
  const at = diagnostic.location;
  const isFile = file === undefined || at?.file === file || at?.file.endsWith(`/${file}`) === true;
  return (
    isFile &&
    (line === undefined || at?.line === line) &&
    (pointer === undefined || at?.pointer === pointer) &&
    (kind === undefined || at?.kind === kind)
  );
}
