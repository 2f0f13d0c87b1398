import { isMapping, type ConfigPath } from "../../config/model/issue.ts";
import { readYamlFile, type YamlFile } from "../../config/sources/yaml-file.ts";
import type { Diagnostic, Location, Review } from "./document.ts";
import { rules, type RuleId } from "./rules.ts";

/** What a reviewer decided of findings of one rule, all of them or those at one place. */
export interface Disposition {
  readonly ruleId: string;
  readonly location: Partial<Location>;
  /** `excluded`, or the severity it is lowered to. */
  readonly word: "excluded" | "warning" | "info";
  readonly review: Review;
  /** Epoch ms; `null` where the review does not expire. */
  readonly expiresMs: number | null;
  /** Where the policy says so. */
  readonly said: Location;
}

/** A policy, and what is wrong with its file. */
export interface Policy {
  readonly dispositions: readonly Disposition[];
  readonly problems: readonly Diagnostic[];
}

const words: readonly Disposition["word"][] = ["excluded", "warning", "info"];
const entryKeys = ["rule_id", "location", "disposition", "reason", "reviewed_by", "reviewed_at", "expires_at"];
const locationKeys = ["file", "line", "pointer", "kind"];

/** Reads a policy: YAML or JSON, a mapping with the list `dispositions`. What is wrong with it is in the result. */
export function readPolicy(file: string): Policy {
  const yaml = readYamlFile(file);
  const found = yaml.problems.map(({ line, message }) =>
    problem(message, { file, ...(line === null ? {} : { line }) }),
  );
  if (found.length > 0) return { dispositions: [], problems: found };
  const list = isMapping(yaml.value) ? yaml.value["dispositions"] : undefined;
  if (!Array.isArray(list))
    return { dispositions: [], problems: [problem("the policy must be a mapping with a list dispositions", { file })] };
  const read = list.map((entry: unknown, at) => readEntry(entry, placeOf(file, yaml, ["dispositions", at])));
  return {
    dispositions: read.flatMap((entry) => ("disposition" in entry ? [entry.disposition] : [])),
    problems: read.flatMap((entry) => ("problem" in entry ? [problem(entry.problem, entry.at)] : [])),
  };
}

/** A diagnostic about the policy itself, at its place in the file. */
export function policyDiagnostic(id: RuleId, message: string, location: Location): Diagnostic {
  return { rule_id: id, severity: rules[id].severity, message, action: rules[id].action, location };
}

type Entry = { readonly disposition: Disposition } | { readonly problem: string; readonly at: Location };

function readEntry(entry: unknown, at: Location): Entry {
  if (!isMapping(entry)) return { problem: "a disposition must be a mapping", at };
  const unknownKey = Object.keys(entry).find((key) => !entryKeys.includes(key));
  if (unknownKey !== undefined)
    return { problem: `a disposition has the keys ${entryKeys.join(", ")}: it has ${JSON.stringify(unknownKey)}`, at };
  const [ruleId, reason, reviewedBy] = [
    filled(entry["rule_id"]),
    filled(entry["reason"]),
    filled(entry["reviewed_by"]),
  ];
  const word = words.find((candidate) => candidate === entry["disposition"]);
  const reviewedMs = instantOf(entry["reviewed_at"]);
  const expiresMs = entry["expires_at"] === undefined ? null : instantOf(entry["expires_at"]);
  const location = readLocation(entry["location"]);
  if (ruleId === null || reason === null || reviewedBy === null)
    return { problem: "a disposition needs rule_id, reason and reviewed_by", at };
  if (word === undefined)
    return {
      problem: `disposition must be one of ${words.join(", ")}: it is ${JSON.stringify(entry["disposition"])}`,
      at,
    };
  if (reviewedMs === undefined || expiresMs === undefined)
    return { problem: "reviewed_at and expires_at must be times such as 2026-01-31T12:00:00Z", at };
  if (location === undefined) return { problem: "location must be a mapping of file, line, pointer and kind", at };
  const review: Review = { reason, reviewed_by: reviewedBy, reviewed_at: new Date(reviewedMs).toISOString() };
  return { disposition: { ruleId, location, word, review, expiresMs, said: at } };
}

function readLocation(value: unknown): Partial<Location> | undefined {
  if (value === undefined) return {};
  if (!isMapping(value) || Object.keys(value).some((key) => !locationKeys.includes(key))) return undefined;
  const { file, line, pointer, kind } = value;
  if (!isText(file) || !isText(pointer) || !(line === undefined || typeof line === "number")) return undefined;
  if (kind !== undefined && kind !== "source" && kind !== "output") return undefined;
  return {
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    ...(pointer === undefined ? {} : { pointer }),
    ...(kind === undefined ? {} : { kind }),
  };
}

function isText(text: unknown): text is string | undefined {
  return text === undefined || typeof text === "string";
}

function filled(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** Epoch ms of an RFC 3339 instant; `undefined` when it is none. */
function instantOf(value: unknown): number | undefined {
  const isInstant =
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(value);
  const ms = isInstant ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function placeOf(file: string, yaml: YamlFile, path: ConfigPath): Location {
  return { file, line: yaml.lineOf(path), pointer: path.map((step) => `/${step}`).join("") };
}

/** A policy that cannot be read as a whole was not applied: the command has not done what was asked. */
function problem(message: string, location: Location): Diagnostic {
  return { ...policyDiagnostic("RC010", message, location), incomplete: true };
}
