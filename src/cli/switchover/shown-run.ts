import { isObject, type JsonObject, listOf } from "../../cluster/values/json.ts";

/** A seamless switchover as the server shows it. Words are plain strings: a newer server may send others. */
export interface ShownRun {
  readonly run: string;
  readonly cluster: string;
  readonly preflight: readonly ShownCheck[];
  readonly forecastMs: number | null;
  readonly steps: readonly ShownStep[];
  readonly targets: readonly ShownTarget[];
  /** `null` while it runs. */
  readonly outcome: string | null;
  /** The outcome as a sentence. */
  readonly text: string | null;
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
  return {
    run,
    cluster,
    preflight: listOf(document["preflight"]).filter(isObject).map(checkOf),
    forecastMs: numberOrNull(document["forecast_ms"]),
    steps: listOf(document["steps"]).filter(isObject).map(stepOf),
    targets: listOf(document["targets"]).filter(isObject).map(targetOf),
    outcome: isObject(outcome) ? textOf(outcome["kind"]) : null,
    text: textOrNull(document["text"]),
  };
}

function checkOf({ level, subject, text, hint }: JsonObject): ShownCheck {
  return { level: textOf(level), subject: textOf(subject), text: textOf(text), hint: textOrNull(hint) };
}

function stepOf({ step, text, after_ms: afterMs }: JsonObject): ShownStep {
  return { step: textOf(step), text: textOrNull(text), afterMs: numberOrNull(afterMs) ?? 0 };
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
