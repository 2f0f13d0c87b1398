import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, test, type TestContext } from "node:test";
import { parse } from "yaml";
import { Demo } from "./demo.ts";
import { userDocuments, type FencedBlock, type MarkdownFile } from "./markdown.ts";
import { commandLines, commandsOf, rolecallOf } from "./shell-words.ts";

/** A command of a `console` block and the output below it. */
interface Step {
  readonly command: string;
  readonly expected: readonly string[];
}

/** A line of output that stands for any number of lines; within a line it stands for any text. */
const ellipsis = "…";
const isUpdate = process.env["UPDATE_DOCS"] === "1";
const missing = ["curl", "bash", "script"].filter((program) => spawnSync(program, ["--version"]).error !== undefined);

function stepsOf({ lines }: FencedBlock): readonly Step[] {
  const steps: { command: string; expected: string[] }[] = [];
  for (const line of lines) {
    const last = steps.at(-1);
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), expected: [] });
    else if (last !== undefined && last.expected.length === 0 && last.command.endsWith("\\"))
      last.command = `${last.command.slice(0, -1)}${line.replace(/^> */, "")}`;
    else last?.expected.push(line);
  }
  return steps;
}

/** Without empty lines at the end. */
function trimmed(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== "") + 1);
}

/** What differs from run to run, and the placeholder that stands for it in a comparison. */
const placeholders: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "TIME"],
  [/\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g, "TIME"],
  [/\b[0-9a-f]{12}(?:\.\d+)?\b/g, "ID"],
  [/\b\d{15,}\b/g, "SYSTEM"],
  [/\b[0-9A-F]+\/[0-9A-F]{5,}\b/g, "LSN"],
  [/\b\d+(?:\.\d+)?(?:B|kB|MB|GB|TB)\b/g, "SIZE"],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|min|h)\b/g, "DURATION"],
  [/"(snapshot|lag_bytes|lag_ms|pid)":\d+/g, '"$1":N'],
  [/[▁▂▃▄▅▆▇█]+/g, "SPARKLINE"],
  [/[ \t]+/g, " "],
];

function normalized(line: string): string {
  return placeholders.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), line).trimEnd();
}

/** Whether the output is the expected one, but for times, sizes, positions and what an ellipsis leaves out. */
function matches(actual: readonly string[], expected: readonly string[]): boolean {
  const pattern = expected
    .map((line) => {
      if (line.trim() === ellipsis) return "(?:[^\n]*\n)*?";
      const parts = normalized(line).split(ellipsis);
      return `${parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("[^\n]*")}\n`;
    })
    .join("");
  return new RegExp(`^${pattern}$`).test(actual.map((line) => `${normalized(line)}\n`).join(""));
}

/** Writes the new outputs of a block into its file. */
function updateBlock({ file, lines }: FencedBlock, updated: readonly string[]): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(
    file,
    text.replace(`\`\`\`console\n${lines.join("\n")}\n\`\`\``, () => `\`\`\`console\n${updated.join("\n")}\n\`\`\``),
  );
}

const { commands: notRun }: { readonly commands: Readonly<Record<string, string>> } = parse(
  readFileSync("test/spec/docs/not-run.yaml", "utf8"),
);

/** Whether the table says why no test runs the command. */
function isNotRun(command: string): boolean {
  return Object.keys(notRun).some((pattern) => new RegExp(`^${pattern}$`).test(command));
}

/** Runs a console block. Its outputs must match; with UPDATE_DOCS=1 they are written into the document instead. */
async function runBlock(demo: Demo, block: FencedBlock): Promise<void> {
  const updated: string[] = [];
  for (const { command, expected } of stepsOf(block)) {
    const actual = trimmed((await demo.run(command)).output.split("\n"));
    const wanted = trimmed(expected);
    const isMatch = matches(actual, wanted);
    const canUpdate = isUpdate && !wanted.some((line) => line.includes(ellipsis));
    const blank = expected.slice(wanted.length);
    updated.push(`$ ${command}`, ...(isMatch || !canUpdate ? wanted : actual), ...blank);
    if (!isMatch && !canUpdate) assert.deepEqual(actual, wanted, `$ ${command}`);
  }
  if (isUpdate) updateBlock(block, updated);
}

/** The rolecall commands of a block that a test can run. */
function runnableCommands({ lines }: FencedBlock): readonly string[] {
  return commandLines("sh", lines).filter((command) => {
    const words = commandsOf(command).flatMap((part) => rolecallOf(part.words));
    return words[0] === "rolecall" && !isNotRun(words.join(" "));
  });
}

/** Runs the blocks of one document in order. */
async function runDocument(context: TestContext, demo: Demo, { file, blocks }: MarkdownFile): Promise<void> {
  const consoles = blocks.filter(({ language }) => language === "console");
  for (const block of consoles) await context.test(`${file}:${block.line}`, () => runBlock(demo, block));
  if (consoles.length > 0) await demo.heal();
  for (const block of blocks.filter(({ language }) => language === "sh")) {
    for (const command of runnableCommands(block)) {
      await context.test(`${file}:${block.line} ${command}`, async () => {
        const { output, exitCode } = await demo.run(command);
        assert.ok(exitCode === 0 || exitCode === 1, `exit code ${exitCode}:\n${output}`);
      });
    }
  }
}

/** Demos that run side by side, each for some of the documents: commands wait for most of their time. */
const demos = 4;

describe(
  "the demo prints what the console blocks show, and accepts the rolecall commands of the sh blocks",
  { skip: missing.length > 0 && `${missing.join()} not found`, timeout: 240_000, concurrency: demos },
  () => {
    for (let part = 0; part < demos; part += 1)
      test(`part ${part + 1} of ${demos}`, async (context) => {
        const demo = await Demo.start(context);
        const documents = userDocuments().filter((_, at) => at % demos === part);
        for (const document of documents) await runDocument(context, demo, document);
      });
  },
);
