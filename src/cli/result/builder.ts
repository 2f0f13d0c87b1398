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
import { rules, type RuleId } from "./rules.ts";

/** A check that a command knows. */
export interface KnownCheck {
  readonly id: string;
  /** Whether the command has not done its work without it. */
  readonly required: boolean;
}

/** What a command has to say of one finding. Severity and action are the rule's unless given. */
export interface ResultFinding {
  readonly message: string;
  readonly action?: string;
  readonly severity?: Severity;
  readonly location?: Location;
  /** Required work did not complete. */
  readonly incomplete?: boolean;
}

/** Findings, records and their texts are bounded, whatever a command meets. */
const listMax = 2_000;
const textMax = 4_000;

/** Collects what a command finds, and makes a document of it that conforms to the schema at any moment. */
export class ResultBuilder {
  readonly #head: { readonly version: string; readonly command: string };
  readonly #diagnostics: Diagnostic[] = [];
  readonly #coverage = new Map<string, Coverage>();
  readonly #evidence: Evidence[] = [];
  #unsaid = 0;
  /** What the command has to say beside its findings. */
  data: unknown = undefined;

  constructor(head: { readonly version: string; readonly command: string }, checks: readonly KnownCheck[]) {
    this.#head = head;
    for (const { id, required } of checks)
      this.#coverage.set(id, { id, required, status: "not_checked", detail: "not reached" });
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#diagnostics;
  }

  /** Adds a finding. */
  diagnose(id: RuleId, finding: ResultFinding): void {
    if (this.#diagnostics.length >= listMax) {
      this.#unsaid += 1;
      return;
    }
    this.#diagnostics.push(diagnosticOf(id, finding));
  }

  /** Says how a check went; one that the command did not announce is added. */
  cover(id: string, status: CoverageStatus, said: { readonly detail: string; readonly required?: boolean }): void {
    if (!this.#coverage.has(id) && this.#coverage.size >= listMax) return;
    const required = said.required ?? this.#coverage.get(id)?.required ?? false;
    this.#coverage.set(id, { id, required, status, detail: short(said.detail) });
  }

  addEvidence(evidence: Evidence): void {
    if (this.#evidence.length < listMax) this.#evidence.push(evidence);
  }

  /**
   * The document as it stands. Each required check that did not complete gets its diagnostic.
   * @param reviewed gives the diagnostics as a policy leaves them
   */
  build(reviewed: (diagnostics: readonly Diagnostic[]) => readonly Diagnostic[] = (same) => same): Result {
    const coverage = [...this.#coverage.values()];
    const unfinished = coverage.filter(
      ({ required, status }) => required && status !== "complete" && status !== "not_applicable",
    );
    const more: Diagnostic[] =
      this.#unsaid === 0
        ? []
        : [diagnosticOf("RC003", { message: `${this.#unsaid} more findings are not listed`, incomplete: true })];
    const open = unfinished.map(({ id, status, detail }) =>
      diagnosticOf("RC003", { message: `check ${id} is ${status}: ${detail}`, incomplete: true }),
    );
    const diagnostics = reviewed([...this.#diagnostics, ...more, ...open]);
    return {
      schema_version: schemaVersion,
      ...this.#head,
      exit_code: exitCodeOf(diagnostics),
      diagnostics,
      coverage,
      evidence: [...this.#evidence],
      ...(this.data === undefined ? {} : { data: plain(this.data) }),
    };
  }
}

/** 2 where required work did not complete, else 1 where a finding of severity error stands, else 0. */
export function exitCodeOf(diagnostics: readonly Diagnostic[]): ExitCode {
  if (diagnostics.some(({ incomplete }) => incomplete === true)) return 2;
  return diagnostics.some(({ severity, disposition }) => severity === "error" && disposition !== "excluded") ? 1 : 0;
}

function diagnosticOf(id: RuleId, { message, action, severity, location, incomplete }: ResultFinding): Diagnostic {
  const { severity: usual, action: usualAction } = rules[id];
  return {
    rule_id: id,
    severity: severity ?? usual,
    message: short(message),
    action: short(action ?? usualAction),
    ...(incomplete === true ? { incomplete } : {}),
    ...(location === undefined ? {} : { location: sound(location) }),
  };
}

/** Lines count from 1; one that does not is no line. */
function sound({ line, ...rest }: Location): Location {
  return line !== undefined && Number.isSafeInteger(line) && line >= 1 ? { ...rest, line } : rest;
}

function short(text: string): string {
  return text.length > textMax ? `${text.slice(0, textMax)}… (${text.length} characters)` : text;
}

/** What JSON can hold of a value. */
function plain(value: unknown): unknown {
  try {
    const text: string | undefined = JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === "bigint" ? String(inner) : inner,
    );
    return text === undefined ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
