import type { HintRecord } from "../../core/cluster/hint.ts";
import type { LimitedLines } from "../../core/log/limited-lines.ts";

/** Logs a hint: who sent it, from where, and what it did. */
export function logHint(lines: LimitedLines, { problem, ...fields }: HintRecord): void {
  const { who, from } = fields;
  if (problem === null) lines.write({ level: "info", text: "hint" }, () => fields);
  else lines.write({ level: "warn", text: "hint refused" }, () => ({ who, from, problem }));
}
