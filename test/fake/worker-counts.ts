/**
 * Of the variants of a test, those that this list of tests runs: `npm test` those without worker processes, `npm run
 * test:processes` those with them, and a file that is run by itself all of them (`*.workers.test.ts`).
 */
export function isRunWith(workers: number): boolean {
  const list = process.env["TEST_LIST"];
  return list === undefined || list === "code" || (list === "processes") === workers > 0;
}

/** The numbers of workers with which a test runs here. */
export const workerCounts: readonly number[] = [0, 2].filter(isRunWith);
