import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { ServerReading } from "../../../src/core/balancing/audited/reading.ts";
import { interOf, parseBackendIds, parseHaproxyStat } from "../../../src/features/haproxy/haproxy-stat.ts";

const settings = { interMs: 500, pushMs: 1_000 };
const header =
  "# pxname,svname,scur,stot,status,weight,bck,type,throttle,lastsess,last_chk,check_rise,check_fall,addr,algo,";
/** The row of the backend itself. */
const ofBackend = "be,BACKEND,0,0,UP,1,0,1,,,,,,,,";

/** The servers of an answer with some rows. */
function serversIn(...rows: readonly string[]): readonly ServerReading[] {
  return parseHaproxyStat("be", [header, ofBackend, ...rows].join("\n"), settings)?.servers ?? [];
}

for (const version of ["2.6", "3.2"]) {
  test(`reads what HAProxy ${version} says: a server that is down, and a spare one without a check`, () => {
    const answer = readFileSync(`test/spec/audit/show-stat-${version}.csv`, "utf8");
    assert.deepEqual(parseHaproxyStat("be", answer.trim(), settings), {
      backend: "be",
      isShared: true,
      leadsTo: null,
      closed: null,
      notTaken: null,
      servers: [
        {
          server: "a",
          address: { host: "127.0.0.1", port: 45_999 },
          use: "down",
          sessions: 0,
          total: 0,
          endedBytes: 0,
          failed: 0,
          closed: "DOWN",
          isChecked: true,
          newestAgoMs: null,
          unchangedMs: 1_000,
          weight: 1,
          delayMs: 2_500,
        },
        {
          server: "b",
          address: { host: "127.0.0.1", port: 45_998 },
          use: "spare",
          sessions: 0,
          // The one session was an attempt to connect that failed.
          total: 0,
          endedBytes: 0,
          failed: 1,
          closed: null,
          isChecked: false,
          newestAgoMs: 2_000,
          unchangedMs: 1_000,
          weight: 50,
          delayMs: 2_500,
        },
      ],
    });
  });
}

/** A row of one server, and how it is used. */
const uses: readonly (readonly [row: string, use: string])[] = [
  ["be,s,1,2,UP,100,0,2,,3,,2,3,,,", "takes"],
  ["be,s,1,2,UP 1/3,100,0,2,,3,,2,3,,,", "takes"],
  ["be,s,1,2,no check,100,0,2,,3,,,,,,", "takes"],
  ["be,s,1,2,DOWN,100,0,2,,3,,2,3,,,", "down"],
  ["be,s,1,2,DOWN (agent),100,0,2,,3,,2,3,,,", "down"],
  ["be,s,1,2,NOLB,100,0,2,,3,,2,3,,,", "down"],
  ["be,s,1,2,MAINT,100,0,2,,3,,2,3,,,", "held"],
  ["be,s,1,2,MAINT (resolution),100,0,2,,3,,2,3,,,", "held"],
  ["be,s,1,2,DRAIN,100,0,2,,3,,2,3,,,", "held"],
  ["be,s,1,2,UP,0,0,2,,3,,2,3,,,", "held"],
  ["be,s,1,2,UP,100,0,2,15%,3,,2,3,,,", "held"],
  ["be,s,1,2,UP,100,1,2,,3,,2,3,,,", "spare"],
];

describe("the use of a server", () => {
  for (const [row, use] of uses)
    test(`${row} is ${use}`, () => {
      assert.deepEqual(
        serversIn(row).map((server) => server.use),
        [use],
      );
    });
});

test("reads texts with commas, quotes and what looks like other columns", () => {
  const row = 'be,s,4,9,UP,100,0,2,,0,"got ""503"", lagging, 12MB",2,3,10.0.0.1:5432,,';
  assert.deepEqual(serversIn(row)[0]?.address, { host: "10.0.0.1", port: 5432 });
});

test("does without addresses and algorithms, which the level user does not show", () => {
  const answer = [header, ofBackend, "be,s,4,9,UP,1,0,2,,,,2,3,,,"].join("\n");
  const reading = parseHaproxyStat("be", answer, settings);
  assert.deepEqual(
    [reading?.isShared, reading?.servers?.map(({ server, address }) => [server, address])],
    [false, [["s", null]]],
  );
});

test("says that HAProxy has no such backend", () => {
  assert.equal(parseHaproxyStat("be", "No such proxy.", settings)?.servers, null);
});

test("is about another proxy if the backend itself is not in it", () => {
  assert.equal(parseHaproxyStat("be", header, settings), null);
});

test("finds the backends, whatever else has their names", () => {
  const answer = `# pxname,svname,status,iid,type,\nweb,BACKEND,UP,4,1,\nbe,BACKEND,UP,3,1,\nodd,BACKEND,UP,x,1,`;
  assert.deepEqual(
    [...parseBackendIds(answer)],
    [
      ["web", "4"],
      ["be", "3"],
    ],
  );
});

test("takes a server for held while it has as many sessions as it may", () => {
  const limited = (sessions: number, limit: string): string =>
    [
      "# pxname,svname,scur,slim,status,weight,type,",
      "be,BACKEND,0,,UP,1,1,",
      `be,s,${sessions},${limit},UP,1,2,`,
    ].join("\n");
  const useOf = (answer: string): string | undefined => parseHaproxyStat("be", answer, settings)?.servers?.[0]?.use;
  assert.deepEqual([limited(9, "10"), limited(10, "10"), limited(10, ""), limited(10, "0")].map(useOf), [
    "takes",
    "held",
    "takes",
    "takes",
  ]);
});

for (const [what, answer] of [
  ["an empty answer", ""],
  ["a page", "<html>hello</html>"],
  ["a count that is none", `${header}\nbe,s,many,9,UP,1,0,2,,,,2,3,,,`],
  ["a server whose name is a command", `${header}\nbe,$(reboot),0,9,UP,1,0,2,,,,2,3,,,`],
  ["a server whose name has a control character", `${header}\nbe,pg1\u001b[2J,0,9,UP,1,0,2,,,,2,3,,,`],
  ["a server without a name", `${header}\nbe,,0,9,UP,1,0,2,,,,2,3,,,`],
] as const)
  test(`refuses ${what}`, () => {
    assert.throws(() => parseHaproxyStat("be", answer, settings), /show stat/);
  });

test("takes the interval of the checks from the words of servers that rolecall adds", () => {
  assert.deepEqual(
    ["check inter 500ms rise 2 fall 3", "check inter 1s", "check fastinter 100ms inter 700", "check", null].map(
      interOf,
    ),
    [500, 1_000, 700, 2_000, 2_000],
  );
});
