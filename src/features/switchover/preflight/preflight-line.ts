/** One line of what is checked before a seamless switchover, with its figures. */
export interface PreflightLine {
  /** `error`: the switchover is refused. `warning`: it runs, but some clients may notice it. */
  readonly level: "ok" | "warning" | "error";
  /** What it is about: `leader`, `candidate`, a pooler, `pooler/database`, a key of the configuration. */
  readonly subject: string;
  /** A sentence about the subject, without it. */
  readonly text: string;
  /** What to do; `null` if nothing has to be done. */
  readonly hint: string | null;
}

/** What was found before a seamless switchover. */
export interface Preflight {
  readonly lines: readonly PreflightLine[];
  /** The first error as one text; `null` if there is none: then the switchover may run. */
  readonly refusal: string | null;
  /** How long clients will wait, in ms; `null` if that cannot be said. */
  readonly forecastMs: number | null;
}

/** What follows from all lines. */
export function concluded(lines: readonly PreflightLine[], forecastMs: number | null): Preflight {
  const first = lines.find(({ level }) => level === "error");
  return { lines, refusal: first === undefined ? null : `${first.subject}: ${first.text}`, forecastMs };
}

export function okLine(subject: string, text: string): PreflightLine {
  return { level: "ok", subject, text, hint: null };
}

export function warningLine(subject: string, text: string, hint: string): PreflightLine {
  return { level: "warning", subject, text, hint };
}

export function errorLine(subject: string, text: string, hint: string): PreflightLine {
  return { level: "error", subject, text, hint };
}
