import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { notifyScript, feedSystemdWatchdog } from "../../src/app/systemd-watchdog.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";

interface Notify {
  /** Finds the systemd-notify that writes to a file. */
  readonly env: NodeJS.ProcessEnv;
  /** Each message with the process of the helper that had it sent. */
  readonly messages: () => readonly { readonly helper: number; readonly text: string }[];
}

function fakeNotify(version: string): Notify {
  const folder = temporaryFolder("watchdog");
  const file = join(folder, "messages");
  const program = `#!/bin/sh
[ "$1" = --version ] && echo "systemd ${version} (${version}.1-1)\n+PAM" && exit
[ -d ${folder} ] && echo "$PPID $NOTIFY_SOCKET $1" >> ${file}`;
  writeFileSync(join(folder, "systemd-notify"), program, { mode: 0o755 });
  return {
    env: { PATH: `${folder}:${process.env["PATH"]}`, NOTIFY_SOCKET: "@notify", WATCHDOG_USEC: "60000" },
    messages: () =>
      (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []).map((line) => {
        const [helper, ...rest] = line.split(" ");
        return { helper: Number(helper), text: rest.join(" ") };
      }),
  };
}

test("systemd's watchdog is told again and again that the event loop runs", async () => {
  const { env, messages } = fakeNotify("252");
  const problems: string[] = [];
  feedSystemdWatchdog(env, (problem) => problems.push(problem));
  await until("three messages", () => messages().length >= 3);
  assert.deepEqual(new Set(messages().map(({ text }) => text)), new Set(["@notify WATCHDOG=1"]));
  const helpers = new Set(messages().map(({ helper }) => helper));
  assert.equal(helpers.size, 1);
  assert.deepEqual(problems, []);

  for (const helper of helpers) process.kill(helper, "SIGKILL");
  await until("a message of another helper", () => messages().some(({ helper }) => !helpers.has(helper)));
  assert.deepEqual(problems, ["its helper ended with SIGKILL"]);
});

for (const [version, times] of [
  ["219", 3],
  ["239", 3],
  ["245", 3],
  ["246", 1],
  ["252", 1],
] as const)
  test(`systemd ${version} is told ${times} times: before 246 it may lose a message`, () => {
    const { env, messages } = fakeNotify(version);
    const { status } = spawnSync("/bin/sh", ["-c", notifyScript], { env, input: "WATCHDOG=1\n" });
    assert.equal(status, 0);
    assert.equal(messages().length, times);
  });
