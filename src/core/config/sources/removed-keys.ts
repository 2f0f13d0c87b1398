import { isObject } from "../../cluster/values/json.ts";
import { type ConfigIssue, type ConfigPath, describeFound, formatPath } from "../model/issue.ts";

/** A key that an earlier version had. Until 2.0 a configuration may still have it. */
export interface RemovedKey {
  /** Its place: `listen[].limits.body`. `[]` stands for each element of a list. */
  readonly path: string;
  /** The key beside it that means the same, and takes its value; `null`: its value has no effect. */
  readonly renamed: string | null;
  /** What holds in its place: continues "has no effect: ". Empty if it was renamed. */
  readonly holds: string;
}

const weightsFollow = "weights follow the lag in time, which was its only value";

/** Every removed key. proof/keys.md says why each one went. */
export const removedKeys: readonly RemovedKey[] = [
  { path: "fast_lane", renamed: "fast_path", holds: "" },
  { path: "listen[].weight.by", renamed: null, holds: weightsFollow },
  { path: "pools[].weight.by", renamed: null, holds: weightsFollow },
  { path: "balancers[].haproxy.backends[].weight.by", renamed: null, holds: weightsFollow },
  {
    path: "listen[].limits.header_timeout",
    renamed: null,
    holds: "the head of a request has 10s, or limits.request_timeout if that is less",
  },
  { path: "listen[].limits.pipelined", renamed: null, holds: "a connection may have 256 pipelined requests" },
  { path: "listen[].limits.body", renamed: null, holds: "the body of a management call has at most 1MB" },
];

/** The issue of a removed key that is written: a warning, because rolecall starts with it. */
export function removedIssue({ renamed, holds }: RemovedKey, path: ConfigPath, found: unknown): ConfigIssue {
  const said = renamed === null ? `was removed, and has no effect: ${holds}` : `was renamed: use ${renamed}`;
  const message = `${said}. From 2.0 on it is an error`;
  const allowed = renamed === null ? "left out" : `written as ${renamed}`;
  return { path, found: describeFound(found), allowed, message, isKey: true };
}

/** A configuration file without removed keys. */
export interface KeptKeys {
  readonly value: Readonly<Record<string, unknown>>;
  /** One for each removed key in it. */
  readonly issues: readonly ConfigIssue[];
  /** Returns the path at which the value at a path is written: under its old name where it was renamed. */
  readonly writtenAt: (path: ConfigPath) => ConfigPath;
}

/**
 * Takes the removed keys out of what a file says, and gives the values of renamed ones to the keys of today. A key of
 * today that is written too wins. Nothing of the argument changes.
 */
export function withoutRemovedKeys(
  written: Readonly<Record<string, unknown>>,
  rows: readonly RemovedKey[] = removedKeys,
): KeptKeys {
  const issues: ConfigIssue[] = [];
  const moved = new Map<string, ConfigPath>();
  let value = written;
  for (const row of rows) {
    const taken = without(value, row, { steps: stepsOf(row.path), at: [] });
    if (isObject(taken.value)) value = taken.value;
    for (const { path, found, to } of taken.found) {
      issues.push(removedIssue(row, path, found));
      if (to !== null) moved.set(formatPath(to), path);
    }
  }
  return {
    value,
    issues,
    writtenAt(path) {
      for (let length = path.length; length > 0; length -= 1) {
        const old = moved.get(formatPath(path.slice(0, length)));
        if (old !== undefined) return [...old, ...path.slice(length)];
      }
      return path;
    },
  };
}

/** The steps of a pattern: `listen[].limits.body` is `listen`, each element, `limits`, `body`. */
function stepsOf(pattern: string): readonly string[] {
  return pattern.split(".").flatMap((step) => (step.endsWith("[]") ? [step.slice(0, -2), "[]"] : [step]));
}

interface Taken {
  readonly value: unknown;
  readonly found: readonly { readonly path: ConfigPath; readonly found: unknown; readonly to: ConfigPath | null }[];
}

/** @param place `steps` lead from here to the key; `at` is the path that led here */
function without(
  value: unknown,
  row: RemovedKey,
  { steps: [step, ...rest], at }: { readonly steps: readonly string[]; readonly at: ConfigPath },
): Taken {
  const untouched = { value, found: [] };
  if (step === undefined) return untouched;
  if (step === "[]") {
    if (!Array.isArray(value)) return untouched;
    const parts = value.map((element: unknown, index) => without(element, row, { steps: rest, at: [...at, index] }));
    const found = parts.flatMap((part) => part.found);
    return found.length === 0 ? untouched : { value: parts.map((part) => part.value), found };
  }
  if (!isObject(value) || !Object.hasOwn(value, step)) return untouched;
  if (rest.length > 0) {
    const inner = without(value[step], row, { steps: rest, at: [...at, step] });
    return inner.found.length === 0 ? untouched : { value: { ...value, [step]: inner.value }, found: inner.found };
  }
  const { [step]: found, ...others } = value;
  const path = [...at, step];
  const { renamed } = row;
  if (renamed === null || Object.hasOwn(others, renamed)) return { value: others, found: [{ path, found, to: null }] };
  return { value: { ...others, [renamed]: found }, found: [{ path, found, to: [...at, renamed] }] };
}
