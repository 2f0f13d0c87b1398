import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { nodeNameOf, originOf, parseClusterDocument } from "../../../../src/core/cluster/documents/cluster-document.ts";
import { leaderRow } from "../../../fake/leader-row.ts";

describe("parseClusterDocument", () => {
  test("reads members, leader and leader timeline", () => {
    const replica = { name: "pg2", role: "replica", api_url: "https://[::1]:8008/patroni" };
    assert.deepEqual(parseClusterDocument({ scope: "demo", members: [leaderRow, replica] }), {
      scope: "demo",
      leader: "pg1",
      leaderApi: "http://10.0.0.1:8008",
      leaderTimeline: 3,
      isPartial: false,
      isLeaderUnreadable: false,
      members: [
        { name: "pg1", api: "http://10.0.0.1:8008", host: "10.0.0.1", port: 5432, behind: null, position: null },
        { name: "pg2", api: "https://[::1]:8008", host: null, port: null, behind: null, position: null },
      ],
      leftOut: [],
    });
  });

  test("the placeholder of a strict synchronous mode is no member, and nothing is left out", () => {
    const placeholder = {
      name: "__patroni_strict_sync_replica_placeholder__",
      api_url: "http://10.0.0.9:8008/patroni",
    };
    const found = parseClusterDocument({ members: [leaderRow, placeholder] });
    assert.deepEqual([found?.members.map(({ name }) => name), found?.leftOut], [["pg1"], []]);
    assert.equal(parseClusterDocument({ members: [placeholder] }), undefined);
  });

  test("names members without a usable API address", () => {
    const without = { name: "pg2", api_url: "http://:8008/patroni" };
    const found = parseClusterDocument({ members: [leaderRow, without, { name: "pg3" }] });
    assert.deepEqual(found?.leftOut, [
      { member: "pg2", cause: "no_address" },
      { member: "pg3", cause: "no_address" },
    ]);
    assert.deepEqual(
      found?.members.map(({ name }) => name),
      ["pg1"],
    );
  });

  const pg = (name: unknown, api: string | null = `http://${String(name)}:8008`): object => ({ name, api_url: api });
  for (const [what, members, leftOut] of [
    ["nothing", [pg("pg1"), pg("pg2")], []],
    ["a member without an address", [pg("pg1"), pg("pg2", null)], ["pg2 no_address"]],
    ["a member with an impossible address", [pg("pg1"), pg("pg2", "http://[::::]:8008")], ["pg2 no_address"]],
    ["a name with a slash", [pg("pg1"), pg("a/b", "http://b:8008")], ["a/b unusable_name"]],
    ["a name that would control a terminal", [pg("pg1"), pg("\u001b[2Jx\u202e")], ["?[2Jx? unusable_name"]],
    ["a name that is too long", [pg("pg1"), pg("x".repeat(129))], [`${"x".repeat(64)} unusable_name`]],
    [
      "a row without a name",
      [pg("pg1"), pg(undefined), pg(7), pg("")],
      Array.from({ length: 3 }, () => "? unusable_name"),
    ],
    ["a name twice", [pg("pg1"), pg("pg1", "http://b:8008")], ["pg1 repeated_name"]],
    ["a name twice, first without an address", [pg("pg1", null), pg("pg1")], ["pg1 repeated_name"]],
    [
      "two members at one address",
      [pg("pg1"), pg("pg2", "HTTP://PG1:8008/x")],
      ["pg1 shared_address", "pg2 shared_address"],
    ],
  ] as const)
    test(`says that it leaves out ${what}`, () => {
      const found = parseClusterDocument({ members })?.leftOut.map(({ member, cause }) => `${member} ${cause}`);
      assert.deepEqual(found, leftOut);
    });

  test("rejects a document without a member that has a name", () => {
    for (const members of [
      undefined,
      {},
      [],
      [{}],
      [{ ...leaderRow, name: "" }],
      [{ ...leaderRow, name: "a/b" }],
      [{ ...leaderRow, name: "a\rb" }],
    ]) {
      assert.equal(parseClusterDocument({ members }), undefined);
    }
  });

  test("keeps 256 members, the leader and synchronous standbys first, and says that others may be missing", () => {
    const members = Array.from({ length: 3_000 }, (_, at) => ({
      name: `pg${at}`,
      api_url: `http://h${at}:8008`,
      role: at === 2_999 ? "leader" : at >= 2_900 ? "sync_standby" : "replica",
    }));
    const found = parseClusterDocument({ members });
    const names = found?.members.map(({ name }) => name) ?? [];
    assert.deepEqual([names.length, names[0], names[238]], [256, "pg0", "pg238"]);
    assert.deepEqual([names[239], names[254], names.at(-1)], ["pg2900", "pg2915", "pg2999"]);
    assert.deepEqual(found?.leftOut, [{ member: "pg239", cause: "past_limit" }]);
    assert.deepEqual([found.leader, found.isPartial, found.isLeaderUnreadable], ["pg2999", true, false]);
    const whole = parseClusterDocument({ members: members.slice(0, 256) });
    assert.deepEqual([whole?.members.length, whole?.leftOut, whole?.isPartial], [256, [], false]);
  });

  const replica = { name: "pg2", role: "replica", api_url: "http://pg2:8008" };
  for (const [what, members, isPartial, isLeaderUnreadable] of [
    ["every row can be read", [leaderRow, replica], false, false],
    ["nobody leads", [replica], false, false],
    [
      "a tag, a lag or a timeline cannot be read",
      [leaderRow, { ...replica, lag: NaN, timeline: Infinity, tags: { a: NaN } }],
      false,
      false,
    ],
    ["a name cannot be read", [leaderRow, { ...replica, name: NaN }], true, false],
    ["a name has half a character", [leaderRow, { ...replica, name: "pg\ud800" }], true, false],
    ["a row is no object", [leaderRow, null], true, false],
    ["a role cannot be read, beside a leader", [leaderRow, { ...replica, role: NaN }], true, false],
    ["a role cannot be read, and nobody leads", [replica, { ...leaderRow, role: NaN }], true, true],
    ["the leader's name cannot be read", [replica, { ...leaderRow, name: -Infinity }], true, true],
    ["a row cannot be read, and nobody leads", [replica, NaN], true, true],
  ] as const)
    test(`where ${what}: ${isPartial ? "others may be missing" : "all are known"}${isLeaderUnreadable ? ", the leader too" : ""}`, () => {
      const found = parseClusterDocument({ members });
      assert.deepEqual([found?.isPartial, found?.isLeaderUnreadable], [isPartial, isLeaderUnreadable]);
      assert.ok(found?.members.some(({ name }) => name === "pg2") === !what.includes("name ") || isPartial);
    });
});

describe("originOf", () => {
  for (const [url, origin] of [
    ["http://10.0.0.1:8008/patroni", "http://10.0.0.1:8008"],
    ["HTTPS://DB.internal", "https://db.internal"],
    ["http://[fd00::1]:8008/patroni", "http://[fd00::1]:8008"],
  ] as const) {
    test(`maps ${url} to ${origin}`, () => {
      assert.equal(originOf(url), origin);
    });
  }

  for (const url of [
    "http://10.0.0.1:99999/",
    "http://[:::::]:8008/",
    "http://1.2.3.4.5:8008/",
    "http://user:pass@h:1/",
    "ftp://h/",
    "h:8008",
    "",
    "http://a b/",
    "http://h:8008x",
    7,
    null,
  ]) {
    test(`${JSON.stringify(url)} is rejected`, () => {
      assert.equal(originOf(url), null);
    });
  }

  test("returns a parseable URL or null for any input", () => {
    const text = fc.oneof(
      fc.webUrl(),
      fc.string().map((host) => `http://${host}:8008/`),
      fc.stringMatching(/^http:\/\/[[\]0-9a-f.:%]{1,20}$/),
    );
    fc.assert(
      fc.property(text, (url) => {
        const origin = originOf(url);
        assert.ok(origin === null || URL.canParse(origin));
      }),
    );
  });
});

test("nodeNameOf rejects empty names, slashes, and control, bidirectional and invisible characters", () => {
  const refused = [
    "",
    "a/b",
    "pg1\u0000",
    "pg1\n",
    "pg\u001b[31m1",
    "pg1\u007f",
    "pg1\u0085",
    "pg1\u2028",
    "pg1\u2029",
    "x".repeat(129),
  ];
  const bidirectional = [
    "\u061c",
    "\u200e",
    "\u200f",
    "\u202a",
    "\u202b",
    "\u202c",
    "\u202d",
    "\u202e",
    "\u2066",
    "\u2067",
    "\u2068",
    "\u2069",
  ];
  const invisible = ["\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff", "\ud800", "\udc00"];
  for (const name of [
    ...refused,
    ...bidirectional.map((mark) => `pg1${mark}2`),
    ...invisible.map((mark) => `${mark}pg1`),
  ]) {
    assert.equal(nodeNameOf(name), null, JSON.stringify(name));
    const members = [
      { name, api_url: "http://pg1:8008" },
      { name: "pg2", api_url: "http://pg2:8008" },
    ];
    assert.deepEqual(
      parseClusterDocument({ members })?.members.map((member) => member.name),
      ["pg2"],
    );
  }
  for (const name of ["pg1", "Pg-1.example_x", "pg 1", "ü", "データ", "x".repeat(128), "pg\u{1f418}"])
    assert.equal(nodeNameOf(name), name);
});
