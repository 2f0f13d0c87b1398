import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  guardianLine,
  type PauseGuards,
  guardLine,
  stateFileLine,
} from "../../../../src/features/switchover/preflight/guard-lines.ts";
import { poolerOf } from "../../../fake/pooler-setup.ts";

const guards: PauseGuards = {
  stateFile: "/var/lib/rolecall/state.json",
  peers: [],
  isUnguarded: false,
  supervisor: { isPresent: false, ends: "none", watchdogMs: null },
};

test("a state file is required", () => {
  assert.deepEqual(
    [guards.stateFile, null].map((stateFile) => {
      const { level, text } = stateFileLine({ ...guards, stateFile });
      return `${level}: ${text}`;
    }),
    [
      "ok: what is paused is written beside /var/lib/rolecall/state.json before the first PAUSE",
      "error: must be set, got none: what is paused is written down before the first PAUSE, for the next start",
    ],
  );
});

suite("a pooler needs a peer that reaches it, or --unguarded", () => {
  const tcp = "10.0.0.9:6432";
  const folder = "/run/pgbouncer";
  const unguarded = "if rolecall and its guardian process die or hang, it stays paused until rolecall runs again, ";
  const rows: readonly (readonly [string, string, Partial<PauseGuards>, string])[] = [
    [
      "two peers",
      tcp,
      { peers: ["core2", "core3"] },
      "ok: before the first PAUSE core2 and core3 must acknowledge it: if rolecall dies, it is resumed from there",
    ],
    [
      "unguarded beside a peer",
      tcp,
      { peers: ["core2"], isUnguarded: true },
      `warning: is not reached by a peer (an unguarded switchover asks none): ${unguarded}without a bound, because no supervisor is seen that starts it`,
    ],
    ["no peer", tcp, {}, "error: must be reached by a peer, got none: no peer is configured"],
    [
      "a socket",
      folder,
      { peers: ["core2"] },
      "error: must be reached by a peer, got none: a peer cannot reach the folder of a Unix socket",
    ],
    [
      "unguarded, without a supervisor",
      tcp,
      { isUnguarded: true },
      `warning: is not reached by a peer (no peer is configured): ${unguarded}without a bound, because no supervisor is seen that starts it`,
    ],
    [
      "unguarded, with a supervisor",
      folder,
      { peers: ["core2"], isUnguarded: true, supervisor: { isPresent: true, ends: "unit", watchdogMs: null } },
      `warning: is not reached by a peer (a peer cannot reach the folder of a Unix socket): ${unguarded}which its supervisor starts; if they hang, without a bound, because no watchdog is seen`,
    ],
    [
      "unguarded, with a watchdog",
      tcp,
      { isUnguarded: true, supervisor: { isPresent: true, ends: "unit", watchdogMs: 10_000 } },
      `warning: is not reached by a peer (no peer is configured): ${unguarded}which its supervisor starts: if they hang, within 10 s (WatchdogSec) + RestartSec + 1 s`,
    ],
  ];
  for (const [name, address, changes, expected] of rows)
    test(name, () => {
      const { level, subject, text } = guardLine(poolerOf("pgb1", address), { ...guards, ...changes });
      assert.deepEqual([subject, `${level}: ${text}`], ["pgb1", expected]);
    });
});

suite("the guardian process finishes a switchover, where it lives on", () => {
  const supervised = (
    ends: PauseGuards["supervisor"]["ends"],
    peers: readonly string[],
    isUnguarded = false,
  ): string => {
    const { level, text } = guardianLine({ ...guards, peers, isUnguarded, supervisor: { ...guards.supervisor, ends } });
    return `${level}: ${text}`;
  };
  test("beside rolecall", () =>
    assert.equal(supervised("none", []), "ok: a process of its own finishes the switchover if rolecall dies or hangs"));
  test("in a unit of systemd, with a peer", () =>
    assert.match(
      supervised("unit", ["core2"]),
      /^ok: .*KillMode=mixed.*core2 finishes it\. A file that a peer does not write/,
    ));
  test("in a container, without a peer that is asked", () => {
    assert.match(
      supervised("container", []),
      /^warning: .*in a container.*nobody leads clients to the new primary until/,
    );
    assert.match(supervised("container", ["core2"], true), /^warning: /);
  });
});
