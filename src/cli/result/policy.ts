import type { Diagnostic } from "./document.ts";
import { policyDiagnostic, type Disposition, type Policy } from "./policy-file.ts";
import { isRuleId } from "./rules.ts";

/**
 * Applies a policy. A finding it excludes stays listed and no longer counts; one it lowers gets that severity. Incomplete
 * work can be neither lowered nor excluded (seeds/cli-result.md, "Errors"). What the policy itself gets wrong is added.
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
    diagnostics.some((diagnostic) => diagnostic.incomplete === true && isMeant(disposition, diagnostic)),
  );
  const reviewed = diagnostics.map((diagnostic) => {
    const disposition =
      diagnostic.incomplete === true ? undefined : valid.find((candidate) => isMeant(candidate, diagnostic));
    return disposition === undefined ? diagnostic : disposed(diagnostic, disposition);
  });
  return [
    ...reviewed,
    ...problems,
    ...unknown.map(({ ruleId, said }) =>
      policyDiagnostic("RC011", `Cannot review ${JSON.stringify(ruleId)} as there is no such rule`, said),
    ),
    ...expired.map(({ ruleId, said, expiresMs }) =>
      policyDiagnostic("RC012", `The review of ${ruleId} expired at ${new Date(expiresMs ?? 0).toISOString()}`, said),
    ),
    ...overreaching.map(({ ruleId, word, said }) =>
      policyDiagnostic("RC013", `Cannot make ${ruleId} ${word} as that work did not complete`, said),
    ),
  ];
}

function disposed(diagnostic: Diagnostic, { word, review }: Disposition): Diagnostic {
  if (word === "excluded") return { ...diagnostic, disposition: word, review };
  const isLower = rank(word) < rank(diagnostic.severity);
  return { ...diagnostic, severity: isLower ? word : diagnostic.severity, disposition: `lowered to ${word}`, review };
}

function rank(severity: Diagnostic["severity"]): number {
  return ["info", "warning", "error"].indexOf(severity);
}

function isMeant({ ruleId, location }: Disposition, diagnostic: Diagnostic): boolean {
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
