/**
 * Preloaded into the processes of `npm test`: a test that starts a program fails, unless its file is a smoke test
 * (`*.smoke.test.ts`). What only makes or checks a file may run, as long as the test waits for it. What starts
 * programs is named `*.process.test.ts`, and runs in `npm run test:processes` (test/run.ts).
 */
import childProcess, { type ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

/** They make a certificate or a pipe, or check a file, within some 50 ms. Not all of them are installed everywhere. */
const shortCommands = new Set([
  "groff",
  "haproxy",
  "mkfifo",
  "amtool",
  "openssl",
  "promtool",
  "systemd-analyze",
  "systemd-sysusers",
  "systemd-tmpfiles",
]);

const [, file = ""] = process.argv;
// The test runner itself starts a process for each file.
const isTestFile = process.env["NODE_TEST_CONTEXT"] !== undefined;

/** A program that does not exist is not started either. */
function isShort(command: string): boolean {
  return shortCommands.has(command) || command.startsWith("/no/such/");
}

function refuse(command: string): never {
  throw new Error(`Cannot start ${command}: a test that starts programs must be *.process.test.ts, got ${file}`);
}

if (isTestFile && !file.endsWith(".smoke.test.js")) {
  const { spawnSync, execFileSync } = childProcess;
  const refusing = {
    spawnSync: (command: string, ...rest: unknown[]): unknown =>
      isShort(command) ? Reflect.apply(spawnSync, childProcess, [command, ...rest]) : refuse(command),
    execFileSync: (command: string, ...rest: unknown[]): unknown =>
      isShort(command) ? Reflect.apply(execFileSync, childProcess, [command, ...rest]) : refuse(command),
    execSync: refuse,
  };
  Object.assign(childProcess, refusing);
  // spawn, exec, execFile, fork and node:cluster come here. The types of Node leave this method out.
  const { prototype } = childProcess.ChildProcess;
  const spawn = Reflect.get(prototype, "spawn") as (options: object) => unknown;
  Reflect.set(prototype, "spawn", function (this: ChildProcess, options: { readonly file: string }): unknown {
    return isShort(options.file) ? spawn.call(this, options) : refuse(options.file);
  });
  syncBuiltinESMExports();
}
