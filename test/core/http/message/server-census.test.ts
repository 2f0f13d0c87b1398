import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { assert as assertProperty, array, nat, property, tuple } from "fast-check";
import { ServerCensus } from "../../../../src/core/http/message/server-census.ts";

suite("the census of servers", () => {
  test("counts by server, cluster and route, with the last status, its reason and its age", () => {
    let nowMs = 0;
    const census = new ServerCensus(() => nowMs);
    census.count({ server: "w/pg1", cluster: "demo", reason: null, takes: true }, "primary", 200);
    census.count({ server: "w/pg1", cluster: "demo", reason: "contested", takes: true }, "primary", 503);
    census.count({ server: "w/pg1", cluster: "demo", reason: "wrong_role", takes: true }, "replica", 503);
    nowMs = 700;
    census.count({ server: "w/pg1", cluster: "other", reason: null, takes: true }, "primary", 200);
    census.count({ server: "w/pg1", cluster: null, reason: null, takes: true }, "bad_request", 400);
    const row = { backend: "w", server: "pg1" };
    assert.deepEqual(census.rows(), [
      {
        ...row,
        cluster: "demo",
        route: "primary",
        status: 503,
        reason: "contested",
        agoMs: 700,
        takes: true,
        count: 2,
      },
      {
        ...row,
        cluster: "demo",
        route: "replica",
        status: 503,
        reason: "wrong_role",
        agoMs: 700,
        takes: true,
        count: 1,
      },
      { ...row, cluster: "other", route: "primary", status: 200, reason: null, agoMs: 0, takes: true, count: 1 },
      { ...row, cluster: null, route: "bad_request", status: 400, reason: null, agoMs: 0, takes: true, count: 1 },
    ]);
  });

  test("invented servers push out those that were seen least recently, and none that go on checking", () => {
    const census = new ServerCensus();
    census.count({ server: "w/gone", cluster: "demo", reason: null, takes: true }, "primary", 200);
    for (let invented = 0; invented < 10_000; invented += 1) {
      if (invented % 100 === 0)
        census.count({ server: "w/pg1", cluster: "demo", reason: null, takes: true }, "primary", 200);
      census.count({ server: `x/${invented}`, cluster: "demo", reason: null, takes: true }, "primary", 200);
    }
    const rows = census.rows();
    assert.equal(rows.length, 2_000);
    assert.equal(rows.find(({ server }) => server === "pg1")?.count, 100);
    assert.equal(
      rows.some(({ server }) => server === "gone"),
      false,
    );
    census.count({ server: "w/new", cluster: "demo", reason: null, takes: true }, "primary", 200);
    assert.ok(
      census.rows().some(({ server }) => server === "new"),
      "a new server is counted without a restart",
    );
  });

  test("one server cannot fill it with clusters and routes", () => {
    const census = new ServerCensus();
    census.count({ server: "w/pg1", cluster: "demo", reason: null, takes: true }, "primary", 200);
    for (let cluster = 0; cluster < 5_000; cluster += 1)
      census.count({ server: "x/1", cluster: `c${cluster}`, reason: null, takes: true }, "primary", 200);
    const rows = census.rows();
    assert.deepEqual([rows.length, rows.filter(({ server }) => server === "pg1").length], [33, 1]);
    assert.equal(rows.filter(({ server }) => server === "1").at(-1)?.cluster, "c4999");
  });

  test("has no more rows than its bound, whatever is counted", () => {
    assertProperty(
      property(array(tuple(nat(300), nat(40)), { maxLength: 300 }), (counted) => {
        const census = new ServerCensus();
        for (const [server, cluster] of counted)
          census.count({ server: `b/${server}`, cluster: `c${cluster}`, reason: null, takes: true }, "replica", 200);
        const rows = census.rows();
        const total = rows.reduce((sum, { count }) => sum + count, 0);
        return rows.length <= 2_000 && total <= counted.length && rows.every(({ count }) => count > 0);
      }),
    );
  });
});
