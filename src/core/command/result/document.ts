/**
 * The result document of one command run, `cli.result/v1` (docs/cli.md). Every object may have more fields in
 * documents of other tools or versions.
 */
export interface Result {
  readonly schema_version: "cli.result/v1";
  /** The version of the tool. */
  readonly version: string;
  readonly command: string;
  readonly site?: string;
  readonly exit_code: ExitCode;
  readonly diagnostics: readonly Diagnostic[];
  readonly coverage: readonly Coverage[];
  readonly evidence: readonly Evidence[];
  readonly data?: unknown;
}

/** 0: no errors found. 1: findings of severity error. 2: the command could not complete. */
export type ExitCode = 0 | 1 | 2;

export type Severity = "info" | "warning" | "error";

export interface Diagnostic {
  readonly rule_id: string;
  readonly severity: Severity;
  readonly message: string;
  readonly action: string;
  /** Required work did not complete. A policy can neither lower nor exclude this finding. */
  readonly incomplete?: boolean;
  /** The effect of a reviewed policy; an excluded finding stays listed. */
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
  /** Counts from 1. */
  readonly line?: number;
  /** JSON pointer (RFC 6901) to a value in the file. */
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

/** The record of one program that the command ran. */
export interface Evidence {
  /** One element per argument. */
  readonly command: readonly string[];
  readonly directory?: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
}

export const schemaVersion = "cli.result/v1" as const;
