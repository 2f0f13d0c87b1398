import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { interOf, parseHaproxyStat } from "../../../src/audit/sources/haproxy-stat.ts";

const settings = { interMs: 500, pushMs: 1_000 };
const header =
  "# pxname,svname,scur,stot,status,weight,bck,type,throttle,lastsess,last_chk,check_rise,check_fall,addr,algo,";

for (const version of ["2.6", "3.2"]) {
  test(`reads what HAProxy ${version} says: a server that is down, and a spare one without a check`, () => {
    const answer = readFileSync(`test/spec/audit/show-stat-${version}.csv`, "utf8");
    assert.deepEqual(parseHaproxyStat("be", answer.trim(), settings), {
      backend: "be",
      isShared: true,
      leadsTo: null,
      notTaken: null,
      servers: [
        {
          server: "a",
          address: { host: "127.0.0.1", port: 45_999 },
          use: "down",
          sessions: 0,
          total: 0,
          newestAgoMs: null,
          weight: 1,
          delayMs: 2_500,
        },
        {
          server: "b",
          address: { host: "127.0.0.1", port: 45_998 },
          use: "spare",
          sessions: 0,
          total: 1,
          newestAgoMs: 2_000,
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
      const { servers } = parseHaproxyStat("be", `${header}\n${row}`, settings);
      assert.deepEqual(
        servers?.map((server) => server.use),
        [use],
      );
    });
});

test("reads texts with commas, quotes and what looks like other columns", () => {
  const row = 'be,s,4,9,UP,100,0,2,,0,"got ""503"", lagging, 12MB",2,3,10.0.0.1:5432,,';
  const { servers } = parseHaproxyStat("be", `${header}\n${row}`, settings);
  assert.deepEqual(servers?.[0]?.address, { host: "10.0.0.1", port: 5432 });
});

test("does without addresses and algorithms, which the level user does not show", () => {
  const { servers, isShared } = parseHaproxyStat(
    "be",
    `${header}\nbe,BACKEND,0,0,UP,1,0,1,,,,,,,,\nbe,s,4,9,UP,1,0,2,,,,2,3,,,`,
    settings,
  );
  assert.deepEqual([isShared, servers?.map(({ server, address }) => [server, address])], [false, [["s", null]]]);
});

test("says that HAProxy has no such backend", () => {
  assert.equal(parseHaproxyStat("be", "No such proxy.", settings).servers, null);
});

for (const [what, answer] of [
  ["an empty answer", ""],
  ["a page", "<html>hello</html>"],
  ["a count that is none", `${header}\nbe,s,many,9,UP,1,0,2,,,,2,3,,,`],
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
