/** Every command of the page about installation, in order, in a scratch root with nothing but the file to install. */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { readMarkdown } from "../docs/markdown.ts";
import { commandLines } from "../docs/shell-words.ts";
import { removeAtExit } from "./lab/reaper.ts";
import { program } from "./lab/rolecall.ts";
import { writeArtefacts } from "./lab/scratch/artefacts.ts";

/** One way to install: a chapter of the page. */
interface Chapter {
  readonly artefacts: readonly string[];
  /** The checks after the commands of each section, in the order in which the test runs the sections. */
  readonly sections: Readonly<Record<string, readonly string[]>>;
}

const page = "docs/install.md";
const chapters: Readonly<Record<string, Chapter>> = parse(readFileSync("test/spec/docs/install.yaml", "utf8"));
const tools = ["ip", "systemd-socket-activate", "systemd-sysusers", "curl", "ps"];
const missing = tools.find((tool) => spawnSync("/bin/sh", ["-c", `command -v ${tool}`]).status !== 0);
const canUnshare = spawnSync("unshare", ["--mount", "--net", "--pid", "--fork", "true"]).status === 0;
const skip = missing !== undefined ? `not run: ${missing} is missing` : !canUnshare && "not run: root may not unshare";

describe(`${page}: the ways to install`, { skip, timeout: 600_000 }, () => {
  for (const [name, chapter] of Object.entries(chapters))
    test(`${name}: every command works in a scratch root`, { timeout: 300_000 }, async (context) => {
      const folder = mkdtempSync(join(tmpdir(), "rolecall-install-"));
      removeAtExit(folder);
      const [input, root, built] = [join(folder, "input"), join(folder, "root"), join(folder, "built")];
      for (const part of [input, root, built]) mkdirSync(part);
      for (const artefact of chapter.artefacts) {
        const notRun = writeArtefacts(artefact, built);
        if (notRun !== null) return context.skip(`not run: ${notRun}`);
      }
      const files = readdirSync(built, { withFileTypes: true }).filter((entry) => entry.isFile());
      for (const file of files) copyFileSync(join(built, file.name), join(input, file.name));
      const names = files.map((file) => file.name);
      writeFileSync(join(input, "SHA256SUMS"), execFileSync("sha256sum", names, { cwd: input }));
      writeFileSync(join(input, "script.sh"), scriptOf(name, chapter));
      const { code, output } = await inScratchRoot(root, input);
      assert.equal(code, 0, output);
      assert.match(output, /^the page is complete$/m, output);
      rmSync(folder, { recursive: true, force: true });
    });

  test("every section of a way to install has checks", () => {
    for (const [name, { sections }] of Object.entries(chapters)) {
      const wanted = [...commandsOf().keys()].filter((path) => path.startsWith(`${name}/`));
      assert.deepEqual(
        wanted.filter((path) => !(path.slice(name.length + 1) in sections)),
        [],
      );
    }
  });
});

/** The commands of the sh blocks of the page, by section: `Start`, or within a chapter `Executable/Upgrade`. */
function commandsOf(): ReadonlyMap<string, readonly string[]> {
  const { blocks, prose } = readMarkdown(page);
  let chapter = "";
  const headings = prose.flatMap(({ place, text }) => {
    const [, depth = "", title = ""] = /^(##|###) (.*)$/.exec(text) ?? [];
    if (depth === "") return [];
    if (depth === "##") chapter = title;
    return [{ line: Number(place.split(":")[1]), path: depth === "##" ? title : `${chapter}/${title}` }];
  });
  const commands = new Map<string, readonly string[]>();
  for (const { language, line, lines } of blocks.filter((block) => block.language === "sh")) {
    const { path = "" } = headings.findLast((heading) => heading.line < line) ?? {};
    commands.set(path, [...(commands.get(path) ?? []), ...commandLines(language, lines)]);
  }
  return commands;
}

/**
 * The script of a way to install: its commands and checks in order. A section that its chapter lacks is the page's own,
 * such as "Start". The script ends at the first command that fails.
 */
function scriptOf(name: string, { sections }: Chapter): string {
  const commands = commandsOf();
  const lines = Object.entries(sections).flatMap(([title, checks]) => {
    const own = commands.get(`${name}/${title}`) ?? commands.get(title);
    if (own === undefined) throw new Error(`${page} must have a section ${title} for ${name}`);
    return [
      `echo '## ${title}'`,
      ...(title === "Start" ? beforeStart : []),
      ...[...own, ...checks].map((command) => `run ${quoted(command)}`),
    ];
  });
  return [prologue, ...lines, "echo 'the page is complete'", ""].join("\n");
}

const prologue = `set -o pipefail +h
export HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
rm -rf /etc/rolecall /var/lib/rolecall
run() {
  echo "$ $1"
  eval "$1" || { code=$?; echo "ended with $code"; tail -n 20 /var/log/rolecall.log 2>/dev/null; exit 1; }
}`;

/** What the reader has: a cluster, and the configuration for it. */
const beforeStart = [
  `${quoted(process.execPath)} ${quoted(program)} demo cluster --nodes 3 --port 18008 >/var/log/nodes.log 2>&1 &`,
  "mkdir -p /etc/rolecall",
  "cat > /etc/rolecall/rolecall.yaml <<'YAML'",
  'clusters: [{ name: demo, discover: ["http://127.0.0.1:18008"] }]',
  "listen: [{ port: 8008 }, { port: 9108, dialect: admin }]",
  "state_file: /var/lib/rolecall/state.json",
  "drain: 100ms",
  "YAML",
  "until curl --silent --output /dev/null http://127.0.0.1:18008/health; do sleep 0.2; done",
];

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

function inScratchRoot(root: string, input: string): Promise<Ended> {
  const args = ["--mount", "--kill-child", "--fork", "bash", "test/real/lab/scratch/scratch-root.sh", root, input];
  const child = spawn("unshare", args, {
    env: { PATH: process.env["PATH"], LANG: "C.UTF-8" },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 290_000,
    killSignal: "SIGKILL",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((done) => child.once("close", (code) => done({ code, output })));
}
