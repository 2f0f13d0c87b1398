import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { parseCommandLine } from "../../src/cli/command-line.ts";
import { allCommands } from "../../src/cli/specs/commands.ts";
import { userDocuments, type Fragment, type MarkdownFile } from "./markdown.ts";
import { commandLines, commandsOf, rolecallOf } from "./shell-words.ts";

/** The programs that commands of the documents may name although no test runs them, with the reason. */
const { programs: notRun, commands: patterns }: Readonly<Record<"programs" | "commands", Record<string, string>>> =
  parse(readFileSync("test/spec/docs/not-run.yaml", "utf8"));

/** The commands of a document's shell blocks, with their places. */
function shellCommands(
  { file, blocks }: MarkdownFile,
  languages: readonly string[] = ["sh", "console"],
): readonly (Fragment & { readonly words: readonly string[] })[] {
  return blocks
    .filter(({ language }) => languages.includes(language))
    .flatMap(({ language, line, lines }) =>
      commandLines(language, lines).flatMap((text) =>
        commandsOf(text).map(({ words }) => ({ place: `${file}:${line}`, text, words: rolecallOf(words) })),
      ),
    );
}

/** The words of every command, verb and form, and of their beginnings: alone they are a mention, not a call. */
const mentions: ReadonlySet<string> = new Set(
  allCommands.flatMap(({ name, positionals }) => [
    name,
    // `rolecall drain NODE --end`
    name.replace(" --", ` ${positionals?.usage ?? ""} --`),
  ]),
);

/** Why `rolecall` would refuse these arguments, or say that they are old; `null`: it does not. */
async function problemOf(words: readonly string[], isMention: boolean): Promise<string | null> {
  const [name = ""] = words;
  if (name.startsWith("-") || name === "help" || /^[A-Z]+$/.test(name)) return null;
  if (isMention && mentions.has(words.join(" "))) return null;
  const { spec, problem, notes } = await parseCommandLine(words);
  if (spec === null) return `rolecall ${name} is no command`;
  return problem?.message ?? notes[0] ?? null;
}

describe("commands of the documents", () => {
  for (const document of userDocuments()) {
    test(`${document.file}: every rolecall command parses, and is no old name`, async () => {
      const mentioned = document.inlineCode
        .filter(({ place, text }) => /^(?:npx )?rolecall [a-z]/.test(text) && !isGenerated(document, place))
        .flatMap((code) => commandsOf(code.text).map(({ words }) => ({ ...code, words: rolecallOf(words) })));
      const called = shellCommands(document).filter(({ words }) => words[0] === "rolecall");
      const problems = await Promise.all([
        ...mentioned.map(async (code) => ({ ...code, problem: await problemOf(code.words.slice(1), true) })),
        ...called.map(async (code) => ({ ...code, problem: await problemOf(code.words.slice(1), false) })),
      ]);
      assert.deepEqual(
        problems.filter(({ problem }) => problem !== null),
        [],
      );
    });

    test(`${document.file}: every other program of an sh block is listed with the reason why no test runs it`, () => {
      const unlisted = shellCommands(document, ["sh"]).filter(
        ({ words: [program = ""] }) => program !== "rolecall" && !(program in notRun),
      );
      assert.deepEqual(unlisted, []);
    });
  }

  test("test/spec/docs/not-run.yaml lists only commands of rolecall that the documents have", () => {
    const calls = userDocuments().flatMap((document) => shellCommands(document).map(({ words }) => words.join(" ")));
    assert.deepEqual(
      Object.keys(patterns).filter((pattern) => !calls.some((call) => new RegExp(`^${pattern}$`).test(call))),
      [],
    );
  });

  test("test/spec/docs/not-run.yaml lists only programs that the documents name", () => {
    const named = new Set(userDocuments().flatMap((document) => shellCommands(document).map(({ words }) => words[0])));
    assert.deepEqual(
      Object.keys(notRun).filter((program) => !named.has(program)),
      [],
    );
  });
});

/** Whether a line is in the generated table of commands, which shows usages rather than calls. */
function isGenerated({ prose }: MarkdownFile, place: string): boolean {
  const at = prose.findIndex((line) => line.place === place);
  const begin = prose.findLastIndex(({ text }, index) => index <= at && text.startsWith("<!-- commands:"));
  const end = prose.findIndex(({ text }, index) => index > begin && text.startsWith("<!-- /commands"));
  return begin !== -1 && at < end;
}
