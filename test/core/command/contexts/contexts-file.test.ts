import assert from "node:assert/strict";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { contextsFile, loadContexts } from "../../../../src/core/command/contexts/contexts-file.ts";
import { writeCurrent } from "../../../../src/core/command/contexts/select-context.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";

const folder = temporaryFolder("contexts");
const file = join(folder, "contexts.yaml");
const env = { HOME: "/home/operator", ROLECALL_CONTEXTS_FILE: file };

function problemsOf(text: string): readonly string[] {
  writeFileSync(file, text);
  const loaded = loadContexts(env);
  return loaded.ok ? [] : loaded.problems.map(({ line, path, message }) => `${line} ${path}: ${message}`);
}

test("the file is in XDG_CONFIG_HOME, else in ~/.config", () => {
  assert.equal(contextsFile({ HOME: "/home/x" }), "/home/x/.config/rolecall/contexts.yaml");
  assert.equal(contextsFile({ HOME: "/home/x", XDG_CONFIG_HOME: "/etc/x" }), "/etc/x/rolecall/contexts.yaml");
  assert.equal(
    contextsFile({ HOME: "/home/x", XDG_CONFIG_HOME: "relative" }),
    "/home/x/.config/rolecall/contexts.yaml",
  );
  assert.equal(contextsFile({}), null);
});

test("a missing or empty file has no contexts", () => {
  assert.deepEqual(loadContexts({ ROLECALL_CONTEXTS_FILE: "/no/such/contexts.yaml" }), {
    ok: true,
    contexts: { file: "/no/such/contexts.yaml", exists: false, current: null, contexts: [] },
  });
  assert.deepEqual(problemsOf(""), []);
  assert.deepEqual(problemsOf("contexts:\n"), []);
});

test("file names are relative to the folder of the file or to the home folder", () => {
  const text = "contexts: { prod: { server: 10.0.0.1, token_file: ~/token, ca: ca.pem, timeout: 2s } }\n";
  assert.deepEqual(problemsOf(text), []);
  const loaded = loadContexts(env);
  assert.ok(loaded.ok);
  assert.deepEqual(loaded.contexts.contexts, [
    {
      name: "prod",
      server: "10.0.0.1",
      token_file: "/home/operator/token",
      ca: join(folder, "ca.pem"),
      timeout: "2000ms",
    },
  ]);
});

const rows: readonly (readonly [text: string, problem: RegExp])[] = [
  ["contexts: {}\ncurent: prod\n", /^2 curent: is not a known key: did you mean current\?$/],
  [
    "contexts:\n  prod:\n    serve: x\n    server: x\n",
    /^3 contexts\.prod\.serve: is not a known key: did you mean server\?$/,
  ],
  ["contexts:\n  prod: {}\n", /^2 contexts\.prod\.server: must be the address of a listener/],
  ["contexts:\n  prod: { server: http://x/path }\n", /must be the address of a listener/],
  ["contexts:\n  prod: { server: x, timeout: 5 }\n", /^2 contexts\.prod\.timeout: must be a duration/],
  [
    "contexts:\n  prod: { server: x }\ncurrent: prodd\n",
    /^3 current: "prodd" is not a known context: did you mean prod\?$/,
  ],
  [
    "contexts:\n  prod: { server: x, password: hunter2 }\n",
    /^2 contexts\.prod\.password: must not be in this file.*password_file$/,
  ],
  ["contexts:\n  prod: { server: x, token_file: a, user_file: b }\n", /user_file: cannot be used with token_file/],
  ["contexts:\n  prod: { server: x, user: a }\n", /user: needs password_file/],
  ["contexts:\n  prod: { server: x, cert: a }\n", /cert: needs key/],
  ["contexts:\n  prod: { server: http://x, tls: true }\n", /tls: contradicts server/],
  ["contexts:\n  'a b': { server: x }\n", /must be a name of letters, digits/],
  ["contexts: [\n", /./],
  ["- 1\n", /must be a mapping with the keys current and contexts/],
];
for (const [text, problem] of rows) {
  test(`rejects ${JSON.stringify(text)}`, () => {
    const problems = problemsOf(text);
    assert.ok(
      problems.some((found) => problem.test(found)),
      problems.join("\n"),
    );
    assert.ok(problems.every((found) => !found.includes("hunter2")));
  });
}

test("selecting a context keeps comments and permissions", () => {
  writeFileSync(file, "# mine\ncurrent: a # the first\ncontexts:\n  a: { server: x } # here\n  b: { server: y }\n");
  chmodSync(file, 0o640);
  writeCurrent(file, "b");
  assert.equal(
    readFileSync(file, "utf8"),
    "# mine\ncurrent: b # the first\ncontexts:\n  a: { server: x } # here\n  b: { server: y }\n",
  );
  assert.equal(statSync(file).mode & 0o777, 0o640);
});
