import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { originOf, parseClusterDocument } from "../../../src/cluster/documents/cluster-document.ts";
import { parseDynamicConfig } from "../../../src/cluster/documents/dynamic-config.ts";
import { parseHistory } from "../../../src/cluster/documents/history.ts";
import { countOf, isObject, nameOf, parseJson } from "../../../src/cluster/values/json.ts";
import { majorVersion, parseReport } from "../../../src/cluster/documents/report.ts";
import { isSet, parseTags } from "../../../src/cluster/values/tags.ts";
import { leaderRow } from "../../fake/leader-row.ts";
import { reportOf, statusDocument } from "../../fake/node-documents.ts";

/** Documents that are nearly right: the fields that are read, with anything in them. */
const nearly = fc.dictionary(
  fc.constantFrom(
    "role",
    "state",
    "xlog",
    "timeline",
    "replication",
    "tags",
    "patroni",
    "ha",
    "members",
    "scope",
    "name",
    "api_url",
    "ttl",
    "loop_wait",
  ),
  fc.jsonValue(),
);

describe("a reader of others' documents", () => {
  const readers = { parseReport, parseClusterDocument, parseDynamicConfig, parseHistory, parseTags };
  for (const [name, read] of Object.entries(readers)) {
    test(`${name} never throws, whatever JSON it is given`, () => {
      fc.assert(fc.property(fc.oneof(fc.jsonValue(), nearly, fc.array(nearly)), (value) => void read(value)));
    });
  }

  test("members with anything in their fields are read or left out", () => {
    const members = fc.array(
      fc.record({
        name: fc.jsonValue(),
        role: fc.jsonValue(),
        api_url: fc.oneof(fc.jsonValue(), fc.webUrl(), fc.string()),
        port: fc.jsonValue(),
      }),
    );
    fc.assert(
      fc.property(members, (rows) => {
        for (const { api } of parseClusterDocument({ members: rows })?.members ?? [])
          assert.equal(new URL(api).origin.length > 0, true);
      }),
    );
  });

  test("text that is no JSON is none", () => {
    assert.equal(parseJson("{"), undefined);
    assert.equal(parseJson(""), undefined);
    assert.deepEqual(parseJson("[1]"), [1]);
  });
});

describe("a status document", () => {
  test("is read in either vocabulary", () => {
    const { patroni, ...rest } = statusDocument("pg1");
    assert.deepEqual(
      { ...parseReport({ ...rest, ha: patroni }), document: "" },
      { ...parseReport({ ...rest, patroni }), document: "" },
    );
  });

  test("without a role or a state is none", () => {
    for (const value of [
      null,
      [],
      "running",
      {},
      { state: "running" },
      { role: "replica" },
      { state: 1, role: "replica" },
    ]) {
      assert.equal(parseReport(value), undefined);
    }
  });

  test("keeps its own text, so that an answer can add to it", () => {
    const status = statusDocument("pg1", { more: { deep: [1, "two", null] } });
    assert.deepEqual(JSON.parse(`${parseReport(status)?.document ?? ""}}`), JSON.parse(JSON.stringify(status)));
  });

  test("names a sender where it has a name, and leaves out what is none", () => {
    const { senders } = reportOf("pg1", {
      replication: [
        { application_name: "pg2", client_addr: "10.0.0.2", state: "streaming" },
        {},
        7,
        { application_name: "a\nb" },
      ],
    });
    assert.deepEqual(senders, [{ name: "pg2", address: "10.0.0.2", state: "streaming" }]);
  });

  test("that nests so deep that it cannot be written again is none", () => {
    const deep: unknown = JSON.parse(
      `{"state":"running","role":"replica","x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`,
    );
    assert.equal(parseReport(deep), undefined);
  });

  test("says its major version, or none", () => {
    const majors = ["4.1.4", "3.0.2", "x", null].map((version) =>
      majorVersion(reportOf("pg1", { patroni: { version } })),
    );
    assert.deepEqual(majors, [4, 3, null, null]);
  });
});

describe("a cluster document", () => {
  test("names its members, its leader and the leader's timeline", () => {
    const replica = { name: "pg2", role: "replica", api_url: "https://[::1]:8008/patroni" };
    assert.deepEqual(parseClusterDocument({ scope: "demo", members: [leaderRow, replica] }), {
      scope: "demo",
      leader: "pg1",
      leaderApi: "http://10.0.0.1:8008",
      leaderTimeline: 3,
      members: [
        { name: "pg1", api: "http://10.0.0.1:8008", host: "10.0.0.1", port: 5432 },
        { name: "pg2", api: "https://[::1]:8008", host: null, port: null },
      ],
    });
  });

  test("without a member that can be asked is none", () => {
    for (const members of [
      undefined,
      {},
      [],
      [{}],
      [{ name: "pg1" }],
      [{ ...leaderRow, name: "" }],
      [{ ...leaderRow, name: "a/b" }],
      [{ ...leaderRow, name: "a\rb" }],
    ]) {
      assert.equal(parseClusterDocument({ members }), undefined);
    }
  });

  test("of more members than any cluster has is read up to 2000", () => {
    const members = Array.from({ length: 3_000 }, (_, at) => ({ ...leaderRow, name: `pg${at}` }));
    assert.equal(parseClusterDocument({ members })?.members.length, 2_000);
  });
});

describe("an API address", () => {
  for (const [url, origin] of [
    ["http://10.0.0.1:8008/patroni", "http://10.0.0.1:8008"],
    ["HTTPS://DB.internal", "https://db.internal"],
    ["http://[fd00::1]:8008/patroni", "http://[fd00::1]:8008"],
  ] as const) {
    test(`${url} is asked at ${origin}`, () => {
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
    test(`${JSON.stringify(url)} is one nobody can be asked at`, () => {
      assert.equal(originOf(url), null);
    });
  }

  test("is one that a URL can be made of, whatever is given", () => {
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

describe("small things in documents", () => {
  test("a dynamic configuration has the nodes' defaults where it says nothing usable", () => {
    const defaults = {
      ttlMs: 30_000,
      loopWaitMs: 10_000,
      retryTimeoutMs: 10_000,
      lagMaxOnFailover: 1_048_576,
      isStandbyCluster: false,
    };
    assert.deepEqual(parseDynamicConfig({}), defaults);
    assert.deepEqual(
      parseDynamicConfig({ ttl: -1, loop_wait: "5", retry_timeout: null, maximum_lag_on_failover: 1.5 }),
      defaults,
    );
    assert.deepEqual(parseDynamicConfig({ ttl: 20, standby_cluster: {} }), {
      ...defaults,
      ttlMs: 20_000,
      isStandbyCluster: true,
    });
    assert.equal(parseDynamicConfig([]), undefined);
  });

  test("a history tells where each timeline ended, rows of four or of five fields", () => {
    const rows = [
      [1, 4_000, "reason", "2026-01-01T00:00:00+00:00"],
      [2, 9_000, "reason", "2026-01-02T00:00:00+00:00", "pg2"],
      [],
      "x",
      [3],
      [-1, 5],
    ];
    assert.deepEqual(
      parseHistory(rows),
      new Map([
        [1, 4_000],
        [2, 9_000],
      ]),
    );
    assert.equal(parseHistory({}), undefined);
  });

  test("tags are compared as lower-case text unless they are strings", () => {
    assert.deepEqual(
      parseTags({ a: "X", b: true, c: 1, d: null, e: [] }),
      new Map([
        ["a", "X"],
        ["b", "true"],
        ["c", "1"],
      ]),
    );
    assert.equal(parseTags(null).size, 0);
  });

  test("a yes-or-no tag is set by anything that is not a no", () => {
    const set = ["true", "1", "yes", "on", "anything"].map((tag) => isSet(new Map([["t", tag]]), "t"));
    const unset = ["false", "FALSE", "0", "no", "off", ""].map((tag) => isSet(new Map([["t", tag]]), "t"));
    assert.deepEqual(
      [...set, ...unset, isSet(new Map(), "t")],
      [true, true, true, true, true, false, false, false, false, false, false, false],
    );
  });

  test("a name holds nothing unprintable and is not endless", () => {
    assert.equal(nameOf("pg-1 ü"), "pg-1 ü");
    for (const value of ["a\nb", "a\u0000", "a\u2028b", "x".repeat(257), 1, null]) assert.equal(nameOf(value), null);
    assert.equal(nameOf("abc", 2), null);
  });

  test("a count is a whole number that is exact", () => {
    assert.deepEqual([0, 7, 2 ** 53 - 1].map(countOf), [0, 7, 2 ** 53 - 1]);
    assert.deepEqual([-1, 1.5, 2 ** 53, Number.NaN, "7", null].map(countOf), [null, null, null, null, null, null]);
    assert.deepEqual([{}, [], null, "x"].map(isObject), [true, false, false, false]);
  });
});
