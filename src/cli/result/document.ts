/** The result document of one command run, `cli.result/v1`, field by field as seeds/cli-result.md has it. Objects are open: readers meet more. */
export interface Result {
  readonly schema_version: "cli.result/v1";
  /** Of the tool. */
  readonly version: string;
  readonly command: string;
  readonly site?: string;
  readonly exit_code: ExitCode;
  readonly diagnostics: readonly Diagnostic[];
  readonly coverage: readonly Coverage[];
  readonly evidence: readonly Evidence[];
  readonly data?: unknown;
}

/** 0: nothing wrong. 1: there are findings of severity error. 2: the command could not do its work. */
export type ExitCode = 0 | 1 | 2;

export type Severity = "info" | "warning" | "error";

export interface Diagnostic {
  readonly rule_id: string;
  readonly severity: Severity;
  readonly message: string;
  readonly action: string;
  /** Required work did not complete: no policy can lower or exclude it. */
  readonly incomplete?: boolean;
  /** What a reviewed policy says of it; an excluded finding stays listed. */
  readonly disposition?: string;
  readonly review?: Review;
  readonly location?: Location;
}

export interface Review {
  readonly reason: string;
  readonly reviewed_by: string;
  /** RFC 3339. */
  readonly reviewed_at: string;
}

export interface Location {
  readonly file: string;
  /** From 1. */
  readonly line?: number;
  /** The way to a value in the file. */
  readonly pointer?: string;
  readonly kind?: "source" | "output";
}

export type CoverageStatus = "complete" | "not_checked" | "not_applicable" | "incomplete" | "unsupported";

export interface Coverage {
  readonly id: string;
  readonly status: CoverageStatus;
  readonly required: boolean;
  readonly detail: string;
}

/** One executed sub-command. */
export interface Evidence {
  /** One element per argument. */
  readonly command: readonly string[];
  readonly directory?: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
}

export const schemaVersion = "cli.result/v1" as const;
