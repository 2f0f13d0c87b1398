import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runText } from "../../fake/command-line.ts";
import { program } from "../../fake/program.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

const hasScript = spawnSync("script", ["--version"]).error === undefined;
const options = { skip: hasScript ? false : "script (util-linux) is not installed", timeout: 60_000 };

/** Runs hash-password on a pseudo-terminal, types `keys` at its prompts, then prints the settings of the terminal. */
async function type(keys: readonly string[]): Promise<string> {
  const file = join(temporaryFolder("password"), "run.sh");
  writeFileSync(file, `${process.execPath} ${program} hash-password --color never\necho "code=$?"\nstty -a\n`);
  const child = spawn("script", ["-qec", `sh ${file}`, "/dev/null"], {
    env: { PATH: process.env["PATH"], TERM: "xterm" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let out = "";
  let answered = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    const prompts = out.match(/(?:Password|again): /g)?.length ?? 0;
    for (; answered < prompts; answered += 1) child.stdin.write(keys[answered] ?? "\u0003");
    if (out.includes("rows")) child.stdin.end();
  });
  await new Promise((done) => void child.on("close", done));
  return out;
}

for (const [title, keys, code] of [
  ["twice the same", ["s3cret\r", "s3cret\r"], 0],
  ["with a correction", ["s3crxx\u007f\u007fet\r", "s3cret\r"], 0],
  ["two that differ, and again", ["s3cret\r", "other\r", "s3cret\r", "s3cret\r"], 0],
  ["Ctrl-C", ["s3cret\u0003"], 2],
  ["Ctrl-C at the second prompt", ["s3cret\r", "\u0003"], 2],
  ["Ctrl-D", ["\u0004"], 2],
  ["nothing", ["\r"], 2],
] as const) {
  test(`hash-password never shows what is typed, and restores the terminal: ${title}`, options, async () => {
    const out = await type(keys);
    assert.match(out, new RegExp(`code=${code}`));
    assert.equal(/scrypt\$15\$8\$1\$/.test(out), code === 0);
    assert.doesNotMatch(out, /s3cret|s3crxx|other/);
    assert.match(out, /[^-]icanon/);
    assert.match(out, /[^-]echo /);
  });
}

test("hash-password reads the first line of stdin without a terminal", async () => {
  const { out, err, code } = await runText(["hash-password"], { stdin: "s3cret\nmore\n" });
  assert.deepEqual([err, code], ["", 0]);
  assert.match(out, /^scrypt\$15\$8\$1\$/);
});
