import type { Targets } from "./targets.ts";

/** The comment lines of sentences about members: whatever a name holds, it stays in its comment. */
export function commentLines(sentences: readonly string[]): readonly string[] {
  return sentences.map((sentence) => `# ${sentence.replaceAll(/[^ -~]/gu, "?")}`);
}

/** The comment lines at the head of each rendered file that lists members: how many, which are silent, who says so. */
export function headComments({ clusters, memberSource }: Targets): readonly string[] {
  return commentLines([...clusters.map(({ summary }) => summary), memberSource]);
}

/** {@link headComments}, and the members that are left out for rolecall and Prometheus. */
export function probedComments(targets: Targets): string {
  const leftOut = targets.clusters.flatMap(({ unnamed, unscraped }) => [...unnamed, ...unscraped]);
  return [...headComments(targets), ...commentLines(leftOut)].map((line) => `${line}\n`).join("");
}
