import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lowerPools, raisedPools, raisePools } from "../../../src/features/pgbouncer/raised-pools.ts";

const comment = (name: string, was: string, raised: number): string =>
  `; rolecall: pool_size of ${name} was ${was}, and is ${raised} while old servers hang. Keep this line\n`;

const rows: readonly {
  readonly title: string;
  readonly text: string;
  readonly servers: Readonly<Record<string, number>>;
  readonly raised: string;
}[] = [
  {
    title: "a line without pool_size: its size is the default of PgBouncer",
    text: "orders = host=pg1 port=5432\n",
    servers: { orders: 6 },
    raised: `${comment("orders", "not set, and so 20", 26)}orders = host=pg1 port=5432 pool_size=26\n`,
  },
  {
    title: "a line with pool_size, in the middle",
    text: "orders = host=pg1 pool_size=10 port=5432\n",
    servers: { orders: 6 },
    raised: `${comment("orders", "10", 16)}orders = host=pg1 pool_size=16 port=5432\n`,
  },
  {
    title: "only the line of the database",
    text: "[databases]\n; mine\norders = host=pg1 pool_size=10\nbilling = host=pg1 pool_size=5\n",
    servers: { billing: 1 },
    raised: `[databases]\n; mine\norders = host=pg1 pool_size=10\n${comment("billing", "5", 6)}billing = host=pg1 pool_size=6\n`,
  },
  {
    title: "lines with another line end, and one without any",
    text: "orders = host=pg1\r\nbilling = host=pg1",
    servers: { orders: 1, billing: 2 },
    raised:
      `${comment("orders", "not set, and so 20", 21).replace("\n", "\r\n")}orders = host=pg1 pool_size=21\r\n` +
      `${comment("billing", "not set, and so 20", 22)}billing = host=pg1 pool_size=22`,
  },
];

const growthsOf = (servers: Readonly<Record<string, number>>): Parameters<typeof raisePools>[1] =>
  new Map(Object.entries(servers).map(([name, count]) => [name, { servers: count, size: 20 }]));

describe("a pool that is larger for a while", () => {
  for (const { title, text, servers, raised } of rows)
    test(`${title}; and back`, () => {
      assert.deepEqual(raisePools(text, growthsOf(servers)), { text: raised });
      assert.deepEqual([...raisedPools(raised).keys()], Object.keys(servers));
      assert.deepEqual(lowerPools(raised, new Set(Object.keys(servers))), { text });
    });

  test("raised again, it is measured by what it was first", () => {
    const once = raisePools("orders = host=pg1\n", growthsOf({ orders: 6 }));
    assert.ok("text" in once);
    const twice = raisePools(once.text, new Map([["orders", { servers: 3, size: 26 }]]));
    assert.deepEqual(twice, {
      text: `${comment("orders", "not set, and so 20", 23)}orders = host=pg1 pool_size=23\n`,
    });
  });

  test("what somebody has changed since stays", () => {
    const text = `${comment("orders", "20", 26)}orders = host=pg1 pool_size=40\n`;
    assert.deepEqual(lowerPools(text, new Set(["orders"])), { text: "orders = host=pg1 pool_size=40\n" });
  });

  test("another one that is raised stays so", () => {
    const text = `${comment("orders", "20", 26)}orders = pool_size=26 host=pg1\n${comment("billing", "20", 21)}billing = host=pg1 pool_size=21\n`;
    assert.deepEqual(lowerPools(text, new Set(["billing"])), {
      text: `${comment("orders", "20", 26)}orders = pool_size=26 host=pg1\nbilling = host=pg1 pool_size=20\n`,
    });
  });

  test("a size that is no number is left alone", () => {
    assert.deepEqual(raisePools("orders = host=pg1 pool_size=many\n", growthsOf({ orders: 1 })), {
      problem: "the pool_size of database orders cannot be read",
    });
  });

  test("no file", () => assert.equal(raisedPools(null).size, 0));
});
