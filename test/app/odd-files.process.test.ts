import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { writeConfigFile } from "../fake/config-file.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";

const folder = temporaryFolder("odd-files");

function fifo(...names: string[]): string {
  const file = join(folder, ...names);
  mkdirSync(join(file, ".."), { recursive: true });
  execFileSync("mkfifo", [file]);
  return file;
}

/** What of the configuration names a file that no read or write of ends, and what the log says about it. */
interface Row {
  readonly given: string;
  readonly cluster?: string;
  readonly service?: string;
  readonly logged: RegExp;
}

const rows: readonly Row[] = [
  {
    given: "a state file that is a FIFO",
    service: `state_file: ${fifo("state-fifo")}`,
    logged: /state-fifo: it must be a regular file, got a FIFO/,
  },
  {
    given: "a state file that is a directory",
    service: `state_file: ${folder}`,
    logged: /it must be a regular file, got a directory/,
  },
  {
    given: "a state file that is a device",
    service: "state_file: /dev/zero",
    logged: /\/dev\/zero: it must be a regular file, got a device/,
  },
  {
    given: "a state file of the kernel that never ends",
    service: "state_file: /proc/kmsg",
    logged: /state file not used[^]*\/proc\/kmsg|\/proc\/kmsg[^]*state file not used/,
  },
  {
    given: "a lock of the history that is a FIFO",
    service: `history: { directory: ${join(fifo("lock-fifo", "lock"), "..")} }`,
    logged: /lock: it must be a regular file, got a FIFO[^]*history not written/,
  },
  {
    given: "a file of the history that is a FIFO",
    service: `history: { directory: ${join(fifo("segment-fifo", "events-0000000001.jsonl"), "..")} }`,
    logged: /must be a regular file, got a FIFO[^]*history not written/,
  },
  {
    given: "a directory of the history under /proc",
    service: "history: { directory: /proc/rolecall }",
    logged: /history not written/,
  },
  {
    given: "a CA of the nodes that is a FIFO",
    cluster: `tls: { ca: ${fifo("ca")} }`,
    logged: /ca: it must be a regular file, got a FIFO/,
  },
  {
    given: "a password of the nodes that is a FIFO",
    cluster: `auth: { user: u, password_file: ${fifo("password")} }`,
    logged: /password: it must be a regular file, got a FIFO/,
  },
  {
    given: "a password of etcd that is a FIFO",
    cluster: `dcs: { etcd: ["http://127.0.0.1:1"], auth: { user: u, password_file: ${fifo("etcd-password")} } }`,
    logged: /etcd-password: it must be a regular file, got a FIFO/,
  },
];

suite("a file that is no regular file keeps neither the start nor the exit waiting", { concurrency: 2 }, () => {
  for (const { given, cluster = "", service = "", logged } of rows)
    test(given, { timeout: 60_000 }, async (context) => {
      const config = writeConfigFile(
        context,
        `clusters:
  - name: demo
    discover: ["http://127.0.0.1:1"]
    ${cluster}
listen: [{ address: "127.0.0.1", port: 0 }]
probe: { timeout: 500ms }
drain: 0s
${service}
`,
      );
      const rolecall = new RolecallProcess(context, ["serve", "--config", config]);
      await rolecall.waitForLog('"listening"');
      await rolecall.waitForLog(logged);
      rolecall.process.kill("SIGTERM");
      assert.equal(await rolecall.exit, 0);
    });
});
