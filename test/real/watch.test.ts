/** `rolecall status --watch` in a real terminal: tmux holds it, shows what a person would see, and presses the keys. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { startSimulator, type Simulator } from "../../src/tools/simulator/simulator.ts";
import { program } from "../fake/program.ts";
import { until } from "../fake/until.ts";

const missing = spawnSync("tmux", ["-V"]).error === undefined ? null : "tmux is missing";
if (missing === null) describe("status --watch in a terminal", { timeout: 60_000, concurrency: false }, scenarios);
else if (process.env["CI"] === undefined)
  test("status --watch in a terminal", { skip: `not run: ${missing}` }, () => {});
else test("status --watch in a terminal", () => assert.fail(`needed in CI: ${missing}`));

function tmux(...words: readonly string[]): string {
  return execFileSync("tmux", ["-L", `rolecall-${process.pid}`, ...words], { encoding: "utf8" });
}

/** Waits until the screen is as expected. Throws an Error with the last screen if it never is. */
async function seen(what: string, holds: () => boolean): Promise<void> {
  await until({ what, seconds: 20, evidence: screen }, async () => (holds() ? true : undefined));
}

function screen(): string {
  return tmux("capture-pane", "-p", "-t", "watch");
}

function scenarios(): void {
  let simulator: Simulator;

  before(async () => {
    simulator = await startSimulator({ nodes: 3, port: 0 });
  });
  after(async () => {
    spawnSync("tmux", ["-L", `rolecall-${process.pid}`, "kill-server"]);
    await simulator.stop();
  });

  for (const [name, key] of [
    ["q", "q"],
    ["Ctrl-C", "C-c"],
  ] as const) {
    test(`it repaints the clusters until ${name}, ends with 0 and leaves the terminal as it was`, async () => {
      const words = [
        process.execPath,
        program,
        "status",
        "--watch",
        "--interval",
        "200ms",
        "--discover",
        simulator.nodes[0]?.url ?? "",
      ];
      tmux(
        "new-session",
        "-d",
        "-s",
        "watch",
        "-x",
        "140",
        "-y",
        "30",
        `echo before; ${words.map((word) => `'${word}'`).join(" ")}; echo "ended with $?"; sleep 30`,
      );
      await seen("the table", () => /pg3 +replica +running/.test(screen()));
      const [first = ""] = screen().split("\n");
      assert.match(first, /^rolecall status .* probed here/);
      assert.match(screen(), /^q quit {2}s sort: problem/m, "the footer names the keys");
      assert.match(screen(), /LAG HISTORY/);
      await seen("a sparkline", () => /pg1 .*[▁▂▃▄▅▆▇█]{3}/u.test(screen()));
      await seen("a repainting", () => screen().split("\n")[0] !== first);
      await simulator.fault("pg3", { kind: "kill" });
      await seen("the dead node", () => /pg3 .*nothing/.test(screen()));
      await simulator.fault("pg3", { kind: "heal" });
      tmux("send-keys", "-t", "watch", key);
      await seen("the end", () => screen().includes("ended with"));
      assert.match(screen(), /^before\nended with 0\n/, "the screen from before is back");
      tmux("kill-session", "-t", "watch");
    });
  }
}
