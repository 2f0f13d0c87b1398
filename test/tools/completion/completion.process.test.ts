import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { allCommands, commands } from "../../../src/cli/specs/commands.ts";
import { adminApiAnswers } from "../../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../../fake/canned-server.ts";
import { runText } from "../../fake/command-line.ts";
import { program } from "../../fake/program.ts";
import { temporaryFolder } from "../../fake/temporary-folder.ts";

const script = (await runText(["completion", "bash"])).out;
const folder = temporaryFolder("completion");
/** Only what the scripts need: no context and no server of the user who runs the tests. */
const env = { PATH: `${folder}:${process.env["PATH"] ?? ""}`, HOME: folder };
let server: Awaited<ReturnType<typeof serveCannedAnswers>>;

before(async () => {
  server = await serveCannedAnswers(adminApiAnswers);
  writeFileSync(join(folder, "rolecall"), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`, { mode: 0o755 });
  writeFileSync(
    join(folder, "contexts.yaml"),
    "current: prod\ncontexts: { prod: { server: 10.0.0.1 }, test: { server: 10.0.0.2 } }\n",
  );
});

after(() => server.close());

/** What bash proposes for a line, and what it writes to stderr meanwhile. */
async function propose(line: string, more: NodeJS.ProcessEnv = {}): Promise<{ words: string[]; err: string }> {
  const child = spawn(
    "bash",
    ["-c", `${script}\n_rolecall; printf '%s\\n' "\${COMPREPLY[@]}"`],
    // The test runner's own variables would make a child report to it.
    { env: { ...env, COMP_LINE: line, COMP_POINT: String(line.length), ...more }, stdio: ["ignore", "pipe", "pipe"] },
  );
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  await new Promise((done) => void child.on("close", done));
  return { words: out.split("\n").filter((word) => word !== ""), err };
}

const rows: readonly (readonly [line: string, words: readonly string[]])[] = [
  ["rolecall sta", ["status"]],
  ["rolecall --format json sta", ["status"]],
  ["rolecall status --wa", ["--watch"]],
  ["rolecall status --format ", ["text", "json"]],
  ["rolecall status --format=j", ["json"]],
  ["rolecall --color al", ["always"]],
  ["rolecall status -o ", ["wide", "json", "yaml"]],
  ["rolecall status -o json --wa", ["--watch"]],
  ["rolecall status ", ["pools", "routes", "fleet"]],
  ["rolecall status --sort name r", ["routes"]],
  // A verb has its own options, and no verb after it.
  ["rolecall status routes --wa", []],
  ["rolecall status routes ", []],
  // A value is no verb.
  ["rolecall status --cluster routes --wa", ["--watch"]],
  ["rolecall render ha", ["haproxy"]],
  ["rolecall render haproxy ", []],
  ["rolecall render haproxy --hint", []],
  ["rolecall render --config rolecall.yaml patroni --hint-c", ["--hint-ca"]],
  ["rolecall check /readi", ["/readiness"]],
  ["rolecall check '/health", ["/health"]],
  ["rolecall node re", ["restart", "reload", "reinitialize"]],
  ["rolecall node restart pg1 --role p", ["primary"]],
  ["rolecall node reload pg1 --rol", []],
  ["rolecall serve --log-level d", ["debug"]],
  ["rolecall doctor packag", ["package-lock.json", "package.json", "packaging"]],
  ["rolecall doctor --offline packag", ["package-lock.json", "package.json", "packaging"]],
  ["rolecall doctor --offl", ["--offline"]],
  ["rolecall incident --directory packag", ["package-lock.json", "package.json", "packaging"]],
  ["rolecall incident replay packag", ["package-lock.json", "package.json", "packaging"]],
  ["rolecall result schema c", ["config"]],
  ["rolecall context u", ["use"]],
  ["rolecall demo cl", ["cluster"]],
  ["rolecall demo --cl", ["--clusters"]],
  ["rolecall status --server http://127.0.0.1:9108 --form", ["--format"]],
  ["rolecall drain --dis", ["--distrust"]],
];

for (const [line, words] of rows) {
  test(`bash completes: ${line}`, async () => {
    const proposed = await propose(line);
    assert.deepEqual(proposed.words.toSorted(), words.toSorted());
    assert.equal(proposed.err, "");
  });
}

test("bash completes all commands, and no hidden one", async () => {
  const { words } = await propose("rolecall ");
  assert.deepEqual(words.toSorted(), commands.map(({ name }) => name).toSorted());
});

test("bash completes the nodes and clusters of the server on the line", async () => {
  assert.deepEqual((await propose(`rolecall drain --server ${server.url} pg`)).words, ["pg1", "pg2", "pg3"]);
  assert.deepEqual((await propose(`rolecall status --server ${server.url} --cluster `)).words, ["demo", "shop"]);
  const { words } = await propose("rolecall explain /replica --node pg", { ROLECALL_SERVER: server.url });
  assert.deepEqual(words, ["pg1", "pg2", "pg3"]);
  for (const start of ["--node demo/pg", "--node=demo/", "--node 'demo/"])
    assert.deepEqual(
      (await propose(`rolecall explain /replica ${start}`, { ROLECALL_SERVER: server.url })).words,
      ["demo/pg1", "demo/pg2", "demo/pg3"],
      start,
    );
});

test("bash completes members of the fleet, and replaces only what follows a colon", async () => {
  const drain = `rolecall drain --server ${server.url} --member`;
  const members = ["edge1:9443", "edge2:9443", "edge3:9443", "edge4:9443"];
  assert.deepEqual((await propose(`${drain} `)).words, members);
  assert.deepEqual((await propose(`${drain} edge2:9`)).words, ["9443"]);
});

test("bash completes contexts", async () => {
  const more = { ROLECALL_CONTEXTS_FILE: join(folder, "contexts.yaml") };
  assert.deepEqual((await propose("rolecall status --context ", more)).words, ["prod", "test"]);
  assert.deepEqual((await propose("rolecall context use t", more)).words, ["test"]);
});

test("completion proposes nothing and reports nothing if the server does not answer", async () => {
  const silent = await serveCannedAnswers({ "/status": { body: "", isSilent: true } });
  for (const url of [silent.url, "http://127.0.0.1:1", "nonsense://"]) {
    const { words, err } = await propose(`rolecall drain --server ${url} pg`);
    assert.deepEqual([words, err], [[], ""], url);
  }
  writeFileSync(join(folder, "broken.yaml"), "contexts: [");
  const broken = { ROLECALL_CONTEXTS_FILE: join(folder, "broken.yaml") };
  assert.deepEqual(await propose("rolecall context use ", broken), { words: [], err: "" });
  await silent.close();
});

test("names from a server that a shell would interpret are not completed", async () => {
  const { words } = await propose(`rolecall drain --server ${server.url} db`);
  assert.deepEqual(words, []);
});

for (const shell of ["zsh", "fish"]) {
  test(`the ${shell} script has every command and option`, async () => {
    const { out } = await runText(["completion", shell]);
    for (const { name, options } of allCommands) {
      assert.ok(name.split(" ").every((word) => out.includes(word.replace(/^--/, ""))));
      for (const option of options)
        assert.ok(out.includes(shell === "zsh" ? `--${option.name}` : `-l ${option.name}`), `${name} ${option.name}`);
    }
    const syntax = spawnSync(shell, ["-n"], { input: out, encoding: "utf8" });
    // If the shell is installed, it must accept the syntax.
    if (syntax.error === undefined) assert.equal(syntax.stderr, "");
  });
}

test("the zsh script has both spellings of a short option, which exclude each other", async () => {
  const { out } = await runText(["completion", "zsh"]);
  const shorts = allCommands.flatMap(({ options }) => options.filter(({ short }) => short !== undefined));
  assert.ok(shorts.some(({ value }) => value !== undefined));
  for (const { name, short = "", value } of [...shorts, { name: "help", short: "h", value: undefined }]) {
    const head = `'(-${short} --${name})`;
    assert.ok(out.includes(`${head}-${short}${value === undefined ? "" : "+"}[`), `-${short}`);
    assert.ok(out.includes(`${head}--${name}${value === undefined ? "" : "="}[`), `--${name}`);
  }
});

test("fish completes values and names, if it is installed", async (context) => {
  const { out } = await runText(["completion", "fish"]);
  const file = join(folder, "rolecall.fish");
  writeFileSync(file, out);
  const complete = (line: string): readonly string[] | null => {
    const asked = `source ${file}; complete -C '${line}'`;
    const { error, stdout } = spawnSync("fish", ["--no-config", "-c", asked], { encoding: "utf8", env });
    return error === undefined
      ? stdout.split("\n").flatMap((row) => (row === "" ? [] : [row.split("\t")[0] ?? ""]))
      : null;
  };
  const formats = complete("rolecall status --format ");
  if (formats === null) return context.skip("fish is not installed");
  assert.deepEqual(formats, ["json", "text"]);
  assert.deepEqual(complete("rolecall sta"), ["status"]);
  assert.deepEqual(complete("rolecall render ha"), ["haproxy"]);
  assert.deepEqual(complete("rolecall status ro"), ["routes"]);
  assert.deepEqual(complete("rolecall status routes ro"), []);
});
