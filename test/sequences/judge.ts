import type { Expectation, Sequence } from "./format.ts";
import type { AnswerRecord, Change } from "./answer-record.ts";
import type { Look } from "./watcher.ts";

export const plainHost = "rolecall";

/**
 * The observed checks of a sequence: each check of its expectations. Unless its rounds are very frequent, also
 * `/primary` of every node.
 */
export function looksOf(sequence: Sequence): readonly Look[] {
  const looks = new Map<string, Look>();
  const primaries = (sequence.every === undefined ? sequence.nodes : []).map((node) => ({ node, check: "/primary" }));
  for (const wanted of [...primaries, ...sequence.expect]) {
    const { node, check, host = plainHost }: { node: string; check: string; host?: string } = wanted;
    const key = keyOf({ node, check, host });
    const path = `/clusters/${sequence.name}/nodes/${sequence.called?.[node] ?? node}${check}`;
    looks.set(key, { key, path, host });
  }
  return [...looks.values()];
}

function keyOf({
  node,
  check,
  host = plainHost,
}: Pick<Expectation, "node" | "check"> & { readonly host?: string | undefined }): string {
  return host === plainHost ? `${node} ${check}` : `${node} at ${host} ${check}`;
}

/** The violations of the sequence's expectations, one line each. Empty if there are none. */
export function faultsOf(sequence: Sequence, answers: AnswerRecord): readonly string[] {
  const faults: string[] = [];
  for (const expectation of sequence.expect) {
    const key = keyOf(expectation);
    const { from, to = sequence.lasts } = expectation;
    const record = answers.changes.get(key) ?? [];
    const wrong = within(record, from, to).filter(({ answer }) => !isAllowed(expectation, answer));
    if (record.length === 0) faults.push(`${key} was never answered`);
    if (wrong.length === 0) continue;
    const wanted = [...wordsOf(expectation.is), ...wordsOf(expectation.never).map((word) => `never ${word}`)].join(
      " or ",
    );
    faults.push(
      `${key} from ${from} s to ${to} s: wanted ${wanted}, was ${wrong.map(describe).join(", ")}; all: ${record.map(describe).join(", ")}`,
    );
  }
  if (answers.doubles.length > 0)
    faults.push(`two primaries at ${answers.doubles.slice(0, 5).map(seconds).join(", ")}`);
  return faults;
}

/** The changes whose answer held at some time of a window. */
function within(record: readonly Change[], from: number, to: number): readonly Change[] {
  return record.filter(({ at }, index) => at <= to && (record[index + 1]?.at ?? Infinity) > from);
}

function isAllowed({ is, never }: Expectation, answer: string): boolean {
  const wanted = wordsOf(is);
  const isWanted = wanted.length === 0 || wanted.includes(answer) || (wanted.includes("unfit") && answer !== "fit");
  return isWanted && !wordsOf(never).includes(answer);
}

function wordsOf(words: string | readonly string[] | undefined): readonly string[] {
  if (words === undefined) return [];
  return typeof words === "string" ? [words] : words;
}

function describe({ at, answer }: Change): string {
  return `${answer} at ${seconds(at)}`;
}

function seconds(at: number): string {
  return `${at.toFixed(2)} s`;
}
