import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { fleetLines } from "../../../src/features/fleet/fleet-log.ts";

test("a fleet whose etcd is lost for long writes one line for each problem, also if these alternate", () => {
  const lines: unknown[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const { phase } = fleetLines(log);
  const problems = ["the watch has ended", "connection refused", "no answer"];
  for (let at = 0; at < 60; at += 1) phase({ kind: "apart", problem: problems[at % 3] ?? "" });
  phase({ kind: "joined", lease: "1", problem: null });
  phase({ kind: "apart", problem: "no answer" });
  assert.deepEqual(
    lines.map((line) => Object.entries(line as object).filter(([key]) => key === "event" || key === "problem")),
    [
      ...problems.map((problem) => [
        ["event", "fleet_lost"],
        ["problem", problem],
      ]),
      [["event", "fleet_joined"]],
      [
        ["event", "fleet_lost"],
        ["problem", "no answer"],
      ],
    ],
  );
});

test("a fleet that loses its etcd again and again does not flood the log", () => {
  let count = 0;
  const log = pino({ base: null }, { write: () => void (count += 1) });
  const { phase } = fleetLines(log);
  for (let at = 0; at < 100; at += 1) {
    phase({ kind: "apart", problem: `problem ${at}` });
    phase({ kind: "joined", lease: "1", problem: null });
  }
  for (let at = 0; at < 100; at += 1) phase({ kind: "apart", problem: `problem ${at}` });
  assert.ok(count <= 20, `${count} lines`);
});
