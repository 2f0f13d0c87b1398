/** The names of version 0.1: each still runs, does the same as its new name, and says that on stderr. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { oldNames } from "../../src/app/registry/old-names.ts";
import { parseCommandLine } from "../../src/cli/command-line.ts";
import { allCommands, commands } from "../../src/cli/specs/commands.ts";
import { adminApiAnswers } from "../fake/admin-api-answers.ts";
import { serveCannedAnswers } from "../fake/canned-server.ts";
import { runText } from "../fake/command-line.ts";
import { assertResultDocument } from "../fake/result-document.ts";

/** A line with each old name, and the same with the new one. */
const lines: Readonly<Record<string, readonly [was: string, is: string]>> = {
  simulate: ["simulate --nodes 2 --ttl 20 --port 0", "demo cluster --nodes 2 --ttl 20 --port 0"],
  pools: ["pools writes", "status pools writes"],
  verify: ["verify", "status routes"],
  "fleet drain MEMBER": ["fleet drain --for 1h edge2:9443 --by me", "drain --member edge2:9443 --for 1h --by me"],
  "fleet undrain MEMBER": ["fleet undrain edge4:9443", "drain --member edge4:9443 --end"],
  fleet: ["fleet --cluster shop", "status fleet --cluster shop"],
  "distrust NODE": ["distrust --for 30m pg2 --yes", "drain pg2 --distrust --for 30m --yes"],
  "trust NODE": ["trust pg2", "drain pg2 --distrust --end"],
  "undrain NODE": ["undrain --by me pg2", "drain pg2 --end --by me"],
  drains: ["drains", "drain --list"],
  failover: ["failover --candidate pg3 --cluster demo --yes", "cluster failover --candidate pg3 --cluster demo --yes"],
  config: ["config --cluster demo --set ttl=20 --yes", "cluster config --cluster demo --set ttl=20 --yes"],
  "restart NODE": ["restart demo/pg2 --pending --yes", "node restart demo/pg2 --pending --yes"],
  "reload NODE": ["reload --yes demo/pg2", "node reload demo/pg2 --yes"],
  "reinitialize NODE": ["reinitialize demo/pg1 --yes", "node reinitialize demo/pg1 --yes"],
  "validate FILE": ["validate test/spec/cli/wrong.yaml", "doctor test/spec/cli/wrong.yaml --offline"],
  contexts: ["contexts", "context list"],
  schema: ["schema config", "result schema config"],
};

/** Commands that run until a signal ends them, or ask no server. */
const parsedOnly = ["simulate"];
const withoutServer = ["validate FILE", "contexts", "schema"];

let server: Awaited<ReturnType<typeof serveCannedAnswers>>;

before(async () => {
  server = await serveCannedAnswers(adminApiAnswers);
});

after(() => server.close());

describe("an old name", () => {
  for (const { was, is } of oldNames) {
    const [old = "", now = ""] = lines[was] ?? [];
    const noteOf = `note: rolecall ${was} is now rolecall ${is}; the old name works until 2.0\n`;

    test(`${was} is no command of now, and is read as ${is}`, async () => {
      assert.notEqual(old, "", "a line of the table");
      assert.ok(!commands.some(({ name }) => name === was.split(" ")[0]));
      const [before_, after_] = [await parseCommandLine(old.split(" ")), await parseCommandLine(now.split(" "))];
      assert.equal(before_.problem, null);
      assert.deepEqual(after_.notes, []);
      assert.equal(before_.spec?.name, after_.spec?.name);
      assert.deepEqual(before_.args, after_.args);
      assert.equal(`note: ${before_.notes.join()}\n`, noteOf);
    });

    if (parsedOnly.includes(was)) continue;
    test(`${was} does the same, with one line on stderr, and its document has the old name`, async () => {
      const more = withoutServer.includes(was) ? [] : ["--server", server.url];
      const run = (line: string, ...format: readonly string[]): ReturnType<typeof runText> =>
        runText([...line.split(" "), ...more, ...format]);
      const [text, textNow] = [await run(old), await run(now)];
      assert.deepEqual([text.code, text.out], [textNow.code, textNow.out]);
      assert.equal(text.err, noteOf + textNow.err);
      const [json, jsonNow] = [await run(old, "--format", "json"), await run(now, "--format", "json")];
      assert.deepEqual([json.code, json.err, jsonNow.err], [jsonNow.code, noteOf, ""]);
      const [document, documentNow] = [assertResultDocument(json.out), assertResultDocument(jsonNow.out)];
      assert.equal(document.command, was.split(" ")[0]);
      assert.deepEqual({ ...document, command: documentNow.command }, documentNow);
    });
  }

  test("may stand after options, and its arguments after them", async () => {
    const { spec, args, problem } = await parseCommandLine(
      "--server 10.0.0.1 --format json undrain --cluster demo --by me pg2".split(" "),
    );
    assert.deepEqual([spec?.name, problem, args.positionals], ["drain --end", null, ["pg2"]]);
    assert.deepEqual([args.text("server"), args.text("cluster"), args.text("by")], ["10.0.0.1", "demo", "me"]);
  });

  test("without its argument is refused as the new one is", async () => {
    for (const [argv, message] of [
      ["undrain", "drain --end takes NODE, got nothing"],
      ["restart --yes", "node restart takes NODE, got nothing"],
      ["fleet drain --for 1h", "Option '--member MEMBER' needs a value"],
      ["validate", "doctor --offline takes one file, as FILE or with --config FILE, got nothing"],
    ] as const) {
      const { code, err } = await runText(argv.split(" "));
      assert.equal(code, 2);
      assert.ok(err.includes(message), err);
    }
  });

  test("has the help of the new one", async () => {
    for (const [was, is] of [
      ["drains", "drain"],
      ["restart", "node restart"],
      ["verify", "status routes"],
    ] as const)
      for (const line of [`${was} --help`, `help ${was}`]) {
        const { code, out, err } = await runText(line.split(" "));
        assert.deepEqual([code, out], [0, (await runText([...is.split(" "), "--help"])).out], line);
        assert.match(err, new RegExp(`^note: rolecall ${was}.* is now .*2\\.0\n$`));
      }
  });
});

test("every line of the table is that of an old name", () => {
  assert.deepEqual(Object.keys(lines).toSorted(), oldNames.map(({ was }) => was).toSorted());
});

test("there are at most 22 commands", () => {
  assert.ok(commands.length <= 22, `${commands.length} commands`);
});

test("an option takes a value in every command or in none: so an old name is found among options", () => {
  const valued = new Map<string, boolean>();
  for (const { name, options, unusedOptions = [] } of allCommands)
    for (const option of [...options, ...unusedOptions]) {
      const takes = option.value !== undefined;
      assert.equal(valued.get(option.name) ?? takes, takes, `${name} --${option.name}`);
      valued.set(option.name, takes);
    }
});
