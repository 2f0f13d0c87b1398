import { errorLine, okLine, type PreflightLine } from "./preflight-line.ts";

/** A file that rolecall writes, and what was found when it was tried. */
export interface TriedFile {
  readonly pooler: string;
  readonly file: string;
  /** Why it cannot be written; `null` if it can. */
  readonly problem: string | null;
  /** The configuration of PgBouncer, as SHOW CONFIG names it. */
  readonly config: string | null;
  /** Whether that includes the file; `null` if it cannot be read from here. */
  readonly isIncluded: boolean | null;
}

/** Whether the clients of a pooler can be led to the new primary by its file. */
export function fileLines({ pooler, file, problem, config, isIncluded }: TriedFile): readonly PreflightLine[] {
  if (problem !== null)
    return [
      errorLine(
        pooler,
        `must be led by ${file}, which cannot be written: ${problem}`,
        "Let the user of rolecall write the folder of the file, and keep room on its disk.",
      ),
    ];
  if (isIncluded === false)
    return [
      errorLine(
        pooler,
        `must include ${file}, got no %include of it in ${config ?? "its configuration"}`,
        `Add %include ${file} to [databases] of PgBouncer, and RELOAD.`,
      ),
    ];
  const by = isIncluded === true ? `, and ${config} includes it` : "";
  return [okLine(pooler, `${file} can be written${by}`)];
}
