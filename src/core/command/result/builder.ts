import {
  schemaVersion,
  type Coverage,
  type CoverageStatus,
  type Diagnostic,
  type Evidence,
  type ExitCode,
  type Location,
  type Result,
  type Severity,
} from "./document.ts";
import type { RuleId } from "./rule-ids.ts";
import { rules } from "./rules.ts";

/** A check whose status a command reports. */
export interface KnownCheck {
  readonly id: string;
  /** Whether the command is incomplete without this check. */
  readonly required: boolean;
}

/** The content of a finding. Severity and action default to those of the rule. */
export interface ResultFinding {
  readonly message: string;
  readonly action?: string;
  readonly severity?: Severity;
  readonly location?: Location;
  /** Required work did not complete. */
  readonly incomplete?: boolean;
}

/** The maximum length of each list of the document. */
const listMax = 2_000;
/** The maximum length of a text, in characters. */
const textMax = 4_000;

/** Collects the findings of a command. Can build a document that conforms to the schema at any time. */
export class ResultBuilder {
  readonly #head: { readonly version: string; readonly command: string };
  readonly #diagnostics: Diagnostic[] = [];
  readonly #coverage = new Map<string, Coverage>();
  readonly #evidence: Evidence[] = [];
  #droppedFindings = 0;
  /** Command-specific data of the document. */
  data: unknown = undefined;

  constructor(head: { readonly version: string; readonly command: string }, checks: readonly KnownCheck[]) {
    this.#head = head;
    for (const { id, required } of checks)
      this.#coverage.set(id, { id, required, status: "not_checked", detail: "not reached" });
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics;
  }

  /** Adds a finding: the document lists it as a diagnostic. */
  diagnose(id: RuleId, finding: ResultFinding): void {
    if (this.#diagnostics.length >= listMax) {
      this.#droppedFindings += 1;
      return;
    }
    this.#diagnostics.push(diagnosticOf(id, finding));
  }

  /** Sets the status of a check. A check that is not in the command's list is added. */
  cover(id: string, status: CoverageStatus, entry: { readonly detail: string; readonly required?: boolean }): void {
    if (!this.#coverage.has(id) && this.#coverage.size >= listMax) return;
    const required = entry.required ?? this.#coverage.get(id)?.required ?? false;
    this.#coverage.set(id, { id, required, status, detail: truncate(entry.detail) });
  }

  addEvidence(evidence: Evidence): void {
    if (this.#evidence.length < listMax) this.#evidence.push(evidence);
  }

  /**
   * Builds the document. Adds a finding (RC003) for each required check that did not complete.
   * @param applyPolicy changes the findings as a policy demands
   */
  build(applyPolicy: (diagnostics: readonly Diagnostic[]) => readonly Diagnostic[] = (unchanged) => unchanged): Result {
    const coverage = [...this.#coverage.values()];
    const unfinishedChecks = coverage.filter(
      ({ required, status }) => required && status !== "complete" && status !== "not_applicable",
    );
    const dropped: Diagnostic[] =
      this.#droppedFindings === 0
        ? []
        : [
            diagnosticOf("RC003", {
              message: `${this.#droppedFindings} further findings are not listed`,
              incomplete: true,
            }),
          ];
    const unfinished = unfinishedChecks.map(({ id, status, detail }) =>
      diagnosticOf("RC003", { message: `check ${id} is ${status}: ${detail}`, incomplete: true }),
    );
    const diagnostics = applyPolicy([...this.#diagnostics, ...dropped, ...unfinished]);
    return {
      schema_version: schemaVersion,
      ...this.#head,
      exit_code: exitCodeOf(diagnostics),
      diagnostics,
      coverage,
      evidence: [...this.#evidence],
      ...(this.data === undefined ? {} : { data: toPlainJson(this.data) }),
    };
  }
}

/** 2 if required work did not complete, else 1 if there is a finding of severity error that is not excluded, else 0. */
export function exitCodeOf(diagnostics: readonly Diagnostic[]): ExitCode {
  if (diagnostics.some(({ incomplete }) => incomplete === true)) return 2;
  return diagnostics.some(({ severity, disposition }) => severity === "error" && disposition !== "excluded") ? 1 : 0;
}

function diagnosticOf(id: RuleId, { message, action, severity, location, incomplete }: ResultFinding): Diagnostic {
  const rule = rules[id];
  return {
    rule_id: id,
    severity: severity ?? rule.severity,
    message: truncate(message),
    action: truncate(action ?? rule.action),
    ...(incomplete === true ? { incomplete } : {}),
    ...(location === undefined ? {} : { location: withValidLine(location) }),
  };
}

/** Removes an invalid line number: lines count from 1. */
function withValidLine({ line, ...rest }: Location): Location {
  return line !== undefined && Number.isSafeInteger(line) && line >= 1 ? { ...rest, line } : rest;
}

function truncate(text: string): string {
  return text.length > textMax ? `${text.slice(0, textMax)}… (${text.length} characters)` : text;
}

/** Converts a value to plain JSON data; returns `null` if that is impossible. */
function toPlainJson(value: unknown): unknown {
  try {
    const text: string | undefined = JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === "bigint" ? String(inner) : inner,
    );
    return text === undefined ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
