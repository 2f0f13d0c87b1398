import { isObject } from "../../cluster/values/json.ts";
import type { ConfigPath } from "../../config/model/issue.ts";
import { readYamlFile, type YamlFile } from "../../config/sources/yaml-file.ts";
import type { Diagnostic, Location, Review } from "./document.ts";
import type { RuleId } from "./rule-ids.ts";
import { rules } from "./rules.ts";

/** A reviewer's decision about the findings of one rule, everywhere or at one location. */
export interface Disposition {
  readonly ruleId: string;
  /** Matches findings; an absent field matches every value. */
  readonly location: Partial<Location>;
  /** `excluded`, or the severity to lower the finding to. */
  readonly effect: "excluded" | "warning" | "info";
  readonly review: Review;
  /** ms since the epoch; `null` if the review does not expire. */
  readonly expiresMs: number | null;
  /** The location of this entry in the policy file. */
  readonly source: Location;
}

/** A policy, and the problems with its file. */
export interface Policy {
  readonly dispositions: readonly Disposition[];
  readonly problems: readonly Diagnostic[];
}

const effects: readonly Disposition["effect"][] = ["excluded", "warning", "info"];
const entryKeys = ["rule_id", "location", "disposition", "reason", "reviewed_by", "reviewed_at", "expires_at"];
const locationKeys = ["file", "line", "pointer", "kind"];

/**
 * Reads a policy file: YAML or JSON, a mapping with the list `dispositions`. Never throws: problems are in the result.
 */
export function readPolicy(file: string): Policy {
  const yaml = readYamlFile(file);
  const found = yaml.problems.map(({ line, message }) =>
    problem(message, { file, ...(line === null ? {} : { line }) }),
  );
  if (found.length > 0) return { dispositions: [], problems: found };
  const list = isObject(yaml.value) ? yaml.value["dispositions"] : undefined;
  if (!Array.isArray(list))
    return {
      dispositions: [],
      problems: [problem("Cannot apply the policy: it must be a mapping with the list dispositions", { file })],
    };
  const read = list.map((entry: unknown, index) => readEntry(entry, locationOf(file, yaml, ["dispositions", index])));
  return {
    dispositions: read.flatMap((entry) => ("disposition" in entry ? [entry.disposition] : [])),
    problems: read.flatMap((entry) => ("problem" in entry ? [problem(entry.problem, entry.at)] : [])),
  };
}

/** A finding about the policy itself. */
export function policyDiagnostic(id: RuleId, message: string, location: Location): Diagnostic {
  return { rule_id: id, severity: rules[id].severity, message, action: rules[id].action, location };
}

type Entry = { readonly disposition: Disposition } | { readonly problem: string; readonly at: Location };

function readEntry(entry: unknown, at: Location): Entry {
  if (!isObject(entry)) return { problem: "Cannot apply the disposition: it must be a mapping", at };
  const unknownKey = Object.keys(entry).find((key) => !entryKeys.includes(key));
  if (unknownKey !== undefined)
    return {
      problem:
        `Cannot apply the disposition: its keys must be of ${entryKeys.join(", ")}, ` +
        `got ${JSON.stringify(unknownKey)}`,
      at,
    };
  const [ruleId, reason, reviewedBy] = [
    nonEmpty(entry["rule_id"]),
    nonEmpty(entry["reason"]),
    nonEmpty(entry["reviewed_by"]),
  ];
  const effect = effects.find((candidate) => candidate === entry["disposition"]);
  const reviewedMs = parseTimestamp(entry["reviewed_at"]);
  const expiresMs = entry["expires_at"] === undefined ? null : parseTimestamp(entry["expires_at"]);
  const location = readLocation(entry["location"]);
  if (ruleId === null || reason === null || reviewedBy === null)
    return { problem: "Cannot apply the disposition: it must have rule_id, reason and reviewed_by", at };
  if (effect === undefined)
    return {
      problem:
        `Cannot apply the disposition: disposition must be one of ${effects.join(", ")}, ` +
        `got ${JSON.stringify(entry["disposition"])}`,
      at,
    };
  if (reviewedMs === undefined || expiresMs === undefined)
    return {
      problem: "Cannot apply the disposition: reviewed_at and expires_at must be times such as 2026-01-31T12:00:00Z",
      at,
    };
  if (location === undefined)
    return { problem: "Cannot apply the disposition: location must be a mapping of file, line, pointer and kind", at };
  const review: Review = { reason, reviewed_by: reviewedBy, reviewed_at: new Date(reviewedMs).toISOString() };
  return { disposition: { ruleId, location, effect, review, expiresMs, source: at } };
}

function readLocation(value: unknown): Partial<Location> | undefined {
  if (value === undefined) return {};
  if (!isObject(value) || Object.keys(value).some((key) => !locationKeys.includes(key))) return undefined;
  const { file, line, pointer, kind } = value;
  if (!isOptionalText(file) || !isOptionalText(pointer) || !(line === undefined || typeof line === "number"))
    return undefined;
  if (kind !== undefined && kind !== "source" && kind !== "output") return undefined;
  return {
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    ...(pointer === undefined ? {} : { pointer }),
    ...(kind === undefined ? {} : { kind }),
  };
}

function isOptionalText(text: unknown): text is string | undefined {
  return text === undefined || typeof text === "string";
}

function nonEmpty(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** Parses an RFC 3339 timestamp. @returns ms since the epoch, or `undefined` */
function parseTimestamp(value: unknown): number | undefined {
  const isTimestamp =
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(value);
  const ms = isTimestamp ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function locationOf(file: string, yaml: YamlFile, path: ConfigPath): Location {
  return { file, line: yaml.lineOf(path), pointer: path.map((step) => `/${step}`).join("") };
}

/** A problem with the policy makes the run incomplete: the policy was not applied as requested. */
function problem(message: string, location: Location): Diagnostic {
  return { ...policyDiagnostic("RC010", message, location), incomplete: true };
}
