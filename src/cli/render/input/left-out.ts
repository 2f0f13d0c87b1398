import type { Targets } from "./targets.ts";

/** The comment lines that name the members that are left out of a rendered file. */
export function leftOutComments(reasons: readonly string[]): readonly string[] {
  return reasons.map((reason) => `# ${reason.replaceAll(/[^ -~]/gu, "?")}`);
}

/** The lines of comments that name the members that are left out for rolecall and Prometheus. */
export function unscrapedComments({ clusters }: Pick<Targets, "clusters">): string {
  const reasons = clusters.flatMap(({ unnamed, unscraped }) => [...unnamed, ...unscraped]);
  return leftOutComments(reasons)
    .map((line) => `${line}\n`)
    .join("");
}
