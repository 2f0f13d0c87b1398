import type { Mutant } from "./mutant.ts";
import type { Result } from "./results.ts";

/** What became of the mutants of one file. */
export interface FileReport {
  readonly file: string;
  readonly mutants: number;
  readonly killedByTests: number;
  readonly killedByCampaign: number;
  /** The compiler refuses them. */
  readonly refused: number;
  readonly explained: number;
  readonly survived: readonly Mutant[];
}

const columns = ["mutants", "killedByTests", "killedByCampaign", "refused", "explained"] as const;

/** Counts the results of each file. A mutant without a result counts as a survivor. */
export function fileReports(
  mutants: readonly Mutant[],
  results: ReadonlyMap<string, Result>,
  reasons: ReadonlyMap<string, string>,
): readonly FileReport[] {
  const files = [...new Set(mutants.map(({ file }) => file))];
  return files.map((file) => {
    const own = mutants.filter((mutant) => mutant.file === file);
    const killers = own.flatMap(({ id }) => results.get(id)?.killedBy ?? []);
    const killedByCampaign = killers.filter((killer) => killer.startsWith("mutants/campaign")).length;
    const refused = killers.filter((killer) => killer === "compiler").length;
    const alive = own.filter(({ id }) => (results.get(id)?.killedBy ?? null) === null);
    const survived = alive.filter(({ id }) => !reasons.has(id));
    return {
      file,
      mutants: own.length,
      killedByTests: killers.length - killedByCampaign - refused,
      killedByCampaign,
      refused,
      explained: alive.length - survived.length,
      survived,
    };
  });
}

/** Renders the table of all files and the survivors. */
export function renderReport(reports: readonly FileReport[]): string {
  const rows = reports.map((report) => [report.file, ...columns.map((name) => report[name]), report.survived.length]);
  const totals = [
    "all",
    ...columns.map((name) => reports.reduce((sum, report) => sum + report[name], 0)),
    reports.reduce((sum, { survived }) => sum + survived.length, 0),
  ];
  const head =
    "| file | mutants | killed by tests | killed by the campaign | refused by the compiler | explained | survived |\n|---|--:|--:|--:|--:|--:|--:|";
  const table = [...rows, totals].map((row) => `| ${row.join(" | ")} |`).join("\n");
  const survivors = reports.flatMap(({ survived }) => survived).map(renderMutant);
  return [`${head}\n${table}`, ...survivors].join("\n\n") + "\n";
}

/** Renders one mutant for a person. */
export function renderMutant({ id, code, replacement }: Mutant): string {
  return `${id}\n  - ${code.replaceAll("\n", "\n    ")}\n  + ${replacement.replaceAll("\n", "\n    ")}`;
}
