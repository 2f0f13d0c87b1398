import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { parseArguments } from "../../src/core/command/framework/arguments.ts";
import { commands } from "../../src/cli/specs/commands.ts";
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

/** Why `rolecall` would refuse these arguments, or `null`. A command's name alone is a mention, not a call. */
function problemOf([name = "", ...rest]: readonly string[], isMention: boolean): string | null {
  if (name.startsWith("-") || name === "help" || /^[A-Z]+$/.test(name)) return null;
  const spec = commands.find((candidate) => candidate.name === name);
  if (spec === undefined) return `rolecall ${name} is no command`;
  if (isMention && rest.length === 0) return null;
  return parseArguments(spec, rest).problem?.message ?? null;
}

describe("commands of the documents", () => {
  for (const document of userDocuments()) {
    test(`${document.file}: every rolecall command parses`, () => {
      const mentioned = document.inlineCode
        .filter(({ place, text }) => /^(?:npx )?rolecall [a-z]/.test(text) && !isGenerated(document, place))
        .flatMap((code) => commandsOf(code.text).map(({ words }) => ({ ...code, words: rolecallOf(words) })));
      const problems = [
        ...mentioned.map((code) => ({ ...code, problem: problemOf(code.words.slice(1), true) })),
        ...shellCommands(document)
          .filter(({ words }) => words[0] === "rolecall")
          .map((code) => ({ ...code, problem: problemOf(code.words.slice(1), false) })),
      ].filter(({ problem }) => problem !== null);
      assert.deepEqual(problems, []);
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
