import { oldNames, type OldName } from "../app/registry/old-names.ts";

/** A command line with an old name, as it reads now. */
export interface Renamed {
  /** The old name of the command, as given. */
  readonly name: string;
  /** That of its result document, which stays as it was. */
  readonly documentName: string;
  readonly argv: readonly string[];
  /** One line for stderr. */
  readonly note: string;
}

/**
 * Replaces the old name in a command line.
 * @param words the indexes of the words that are neither options nor their values, from the name on
 * @returns `null` if the name is no old one
 */
export function renamed(argv: readonly string[], words: readonly number[]): Renamed | null {
  const found = oldNames.find((one) => matches(one, argv, words));
  if (found === undefined) return null;
  const was = found.was.split(" ");
  const [name = ""] = was;
  const used = words.slice(0, was.length);
  const values = new Map(
    was.flatMap((word, at) => (isPlaceholder(word) ? [[word, argv[used[at] ?? -1]] as const] : [])),
  );
  // A missing argument stays out: the command says that it is missing.
  const now = found.is
    .split(" ")
    .map((word) => (values.has(word) ? values.get(word) : word))
    .filter((word) => word !== undefined);
  const [begin = 0] = used;
  const rest = argv.slice(begin).filter((_, at) => !used.includes(begin + at));
  return {
    name,
    documentName: name,
    argv: [...argv.slice(0, begin), ...now, ...rest],
    note: `rolecall ${found.was} is now rolecall ${found.is}; the old name works until 2.0`,
  };
}

/** Whether the words of a line are those of an old name: placeholders match any word, and its lack. */
function matches({ was }: OldName, argv: readonly string[], words: readonly number[]): boolean {
  return was.split(" ").every((word, at) => isPlaceholder(word) || argv[words[at] ?? -1] === word);
}

function isPlaceholder(word: string): boolean {
  return /^[A-Z]+$/.test(word);
}
