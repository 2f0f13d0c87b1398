import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { removedCommands } from "../../src/cli/specs/commands.ts";
import { runText } from "../fake/command-line.ts";

for (const [command, instead] of removedCommands)
  test(`rolecall ${command}, whatever its options were, says what to use instead`, async () => {
    const { code, out, err } = await runText([...command.split(" "), "--server", "http://127.0.0.1:1", "--image", "x"]);
    assert.deepEqual([code, out], [2, ""]);
    assert.ok(err.startsWith(`error RC001  rolecall ${command} was removed\n  ${instead}\n`), err);
    for (const [path] of instead.matchAll(/(?<!\S)(?:deploy|docs)\/[\w./-]*\w/g)) assert.ok(existsSync(path), path);
  });
