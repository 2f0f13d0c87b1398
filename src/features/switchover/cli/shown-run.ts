import { isObject, type JsonObject, listOf } from "../../../core/cluster/values/json.ts";

/** A seamless switchover as the server shows it. Words are plain strings: a newer server may send others. */
export interface ShownRun {
  readonly run: string;
  readonly cluster: string;
  /** The node that was asked for; `null`: the cluster elects one. */
  readonly candidate: string | null;
  /** The node whose database is restarted; `null`: it is a switchover. */
  readonly restarted: string | null;
  readonly preflight: readonly ShownCheck[];
  readonly forecastMs: number | null;
  readonly steps: readonly ShownStep[];
  readonly targets: readonly ShownTarget[];
  /** `null` while it runs. */
  readonly outcome: string | null;
  /** What came of it apart from what is left; the same as `outcome` where nothing is. */
  readonly settled: string | null;
  /** The new primary; `null` if there is none. */
  readonly node: string | null;
  /** What it could not finish. */
  readonly left: readonly ShownLeft[];
  /** The outcome as a sentence. */
  readonly text: string | null;
}

/** A database of a pooler that is not as it should be at the end: `paused` or `unrouted`. */
export interface ShownLeft {
  readonly target: string;
  readonly state: string;
  readonly problem: string | null;
}

/** A line of the checks before it. */
interface ShownCheck {
  readonly level: string;
  readonly subject: string;
  readonly text: string;
  readonly hint: string | null;
}

/** What happened, and when, in ms after the begin. */
interface ShownStep {
  readonly step: string;
  readonly text: string | null;
  readonly afterMs: number;
}

/** A database of a pooler, and how long its clients were held, in ms. */
interface ShownTarget {
  readonly pooler: string;
  readonly database: string;
  readonly heldMs: number | null;
}

/** Reads the document of a run. @returns `null` if it is none */
export function readShownRun(document: JsonObject): ShownRun | null {
  const { run, cluster, outcome } = document;
  if (typeof run !== "string" || typeof cluster !== "string" || !Array.isArray(document["steps"])) return null;
  const ended = isObject(outcome) ? outcome : {};
  const settled = isObject(ended["of"]) ? ended["of"] : ended;
  return {
    run,
    cluster,
    candidate: textOrNull(document["candidate"]),
    restarted: document["start"] === "restart" ? textOrNull(document["leader"]) : null,
    preflight: listOf(document["preflight"]).filter(isObject).map(checkOf),
    forecastMs: numberOrNull(document["forecast_ms"]),
    steps: listOf(document["steps"]).filter(isObject).map(stepOf),
    targets: listOf(document["targets"]).filter(isObject).map(targetOf),
    outcome: isObject(outcome) ? textOf(ended["kind"]) : null,
    settled: isObject(outcome) ? textOf(settled["kind"]) : null,
    node: textOrNull(settled["node"]),
    left: listOf(ended["left"]).filter(isObject).map(leftOf),
    text: textOrNull(document["text"]),
  };
}

function checkOf({ level, subject, text, hint }: JsonObject): ShownCheck {
  return { level: textOf(level), subject: textOf(subject), text: textOf(text), hint: textOrNull(hint) };
}

function stepOf({ step, text, after_ms: afterMs }: JsonObject): ShownStep {
  return { step: textOf(step), text: textOrNull(text), afterMs: numberOrNull(afterMs) ?? 0 };
}

function leftOf({ target, state, problem }: JsonObject): ShownLeft {
  return { target: textOf(target), state: textOf(state), problem: textOrNull(problem) };
}

function targetOf({ pooler, database, held_ms: heldMs }: JsonObject): ShownTarget {
  return { pooler: textOf(pooler), database: textOf(database), heldMs: numberOrNull(heldMs) };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function textOf(value: unknown): string {
  return textOrNull(value) ?? "?";
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
