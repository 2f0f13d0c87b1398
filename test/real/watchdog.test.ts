/** The watchdog of a systemd unit: a rolecall that runs keeps telling it so, and one that stands still is replaced. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { freePort } from "../fake/free-port.ts";
import { until } from "../fake/until.ts";
import { Child } from "./lab/child.ts";
import { reapAtExit, removeAtExit, signal } from "./lab/reaper.ts";
import { program } from "./lab/rolecall.ts";

const missing = ["/usr/bin/systemd-notify", "/usr/bin/python3"].find((path) => !existsSync(path));
const skip = missing === undefined ? false : `not run: ${missing} is missing`;
const manager = join(process.cwd(), "test/real/lab/watchdog.py");

describe("a stand-in for systemd with a watchdog of 1 s", { skip, timeout: 60_000 }, () => {
  for (const kind of ["path", "abstract"] as const)
    test(`replaces rolecall when it stands still, not before (${kind} socket)`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "rolecall-watchdog-"));
      removeAtExit(folder);
      const file = join(folder, "rolecall.yaml");
      const [health, admin] = [await freePort(), await freePort()];
      writeFileSync(
        file,
        `clusters: [{ name: demo, nodes: [{ name: pg1, api: "http://127.0.0.1:1" }] }]
listen: [{ port: ${health} }, { port: ${admin}, dialect: admin }]
workers: 1`,
      );
      const address = kind === "path" ? join(folder, "notify") : `@${folder}`;
      const serve = [process.execPath, program, "serve", "--config", file];
      const child = new Child({ name: "manager", command: ["/usr/bin/python3", manager, address, ...serve], folder });
      const events = (): readonly string[] => child.log.split("\n").filter((line) => /^\w+ \d+$/.test(line));
      const pids = (): readonly number[] => [...new Set(events().map((line) => Number(line.split(" ")[1])))];
      reapAtExit(pids);
      const seen = (event: string, times: number): Promise<true> =>
        until({ what: `${event}, ${times} times`, evidence: () => child.tail }, () => {
          return events().filter((line) => line === event).length >= times || undefined;
        });

      const first = await until("a first process", () => pids()[0]);
      // A third of a second each: it lives longer than the watchdog allows without them.
      await seen(`alive ${first}`, 6);
      signal(first, "SIGSTOP");
      await seen(`watchdog ${first}`, 1);
      const second = await until("a second process", () => pids()[1]);
      await seen(`alive ${second}`, 6);
      assert.deepEqual(
        events().filter((line) => !line.startsWith("alive")),
        [`started ${first}`, `watchdog ${first}`, `started ${second}`],
      );
      await child.stop("SIGKILL");
      signal(second, "SIGKILL");
    });
});
