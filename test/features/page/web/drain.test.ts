import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { lostClients as lostByCommand } from "../../../../src/cli/commands/lost-clients.ts";

// The page is plain JavaScript, which the compiler does not read: its modules are imported by their address.
const { lostClients } = (await import(
  new URL("../../../../src/features/page/web/actions/drain.js", import.meta.url).href
)) as {
  readonly lostClients: (
    cluster: object,
    pools: readonly object[],
    order: { readonly node: string; readonly isAll: boolean },
  ) => string | null;
};

const leads = { primary: "fit", replica: "wrong_role", "read-only": "fit", health: "fit", liveness: "fit" };
const follows = { primary: "wrong_role", replica: "fit", "read-only": "fit", health: "fit", liveness: "fit" };
const behind = { ...follows, replica: "lagging", "read-only": "lagging" };

function clusterOf(verdicts: Readonly<Record<string, object>>): object {
  const nodes = Object.entries(verdicts).map(([node, each]) => ({ node, verdicts: each }));
  return { cluster: "demo", leader: "pg1", nodes };
}

function poolOf(parts: object, ...fit: readonly string[]): object {
  const members = ["pg1", "pg2", "pg3"].map((node) => ({ node, fit: fit.includes(node) }));
  return { pool: "reads", cluster: "demo", check: "/replica?lag=10MB", members, used_by: [], ...parts };
}

const lb = { kind: "haproxy", name: "lb1", backend: "orders_read", up: true };
const many = Array.from({ length: 6 }, (_, at) => ({ kind: "pgbouncer", name: `pgb${at}`, up: true }));
const healthy = clusterOf({ pg1: leads, pg2: follows, pg3: follows });
const oneLeft = clusterOf({ pg1: leads, pg2: follows, pg3: behind });

/** A drain, the pools, and what is said of it: by the page as by `rolecall drain`. */
const rows: readonly (readonly [string, object, readonly object[], { node: string; isAll: boolean }, string | null])[] =
  [
    ["of one of two", healthy, [poolOf({}, "pg2", "pg3")], { node: "pg2", isAll: false }, null],
    [
      "of the last for a route",
      oneLeft,
      [],
      { node: "pg2", isAll: false },
      "pg2 is the only node of demo that is fit for /replica: clients that are sent by these checks lose their server",
    ],
    [
      "of the last in a pool with a limit, although its route has another",
      healthy,
      [poolOf({ used_by: [lb] }, "pg2")],
      { node: "pg2", isAll: false },
      "pg2 is the only node of demo that is fit for pool reads: the clients of haproxy lb1/orders_read lose their server",
    ],
    [
      "of the last for a route, with those who use it",
      oneLeft,
      [poolOf({ used_by: [lb, ...many] }, "pg2")],
      { node: "pg2", isAll: false },
      "pg2 is the only node of demo that is fit for /replica: the clients of haproxy lb1/orders_read, pgbouncer pgb0, " +
        "pgbouncer pgb1, pgbouncer pgb2 and 3 more lose their server",
    ],
    ["of a pool of another cluster", healthy, [poolOf({ cluster: "b" }, "pg2")], { node: "pg2", isAll: false }, null],
    ["of the leader, which keeps the writes", oneLeft, [], { node: "pg1", isAll: false }, null],
    [
      "of the leader in all",
      oneLeft,
      [poolOf({ check: "/primary", pool: "writes", used_by: [lb] }, "pg1")],
      { node: "pg1", isAll: true },
      "pg1 is the only node of demo that is fit for /primary: the clients of haproxy lb1/orders_read lose their server",
    ],
    ["of one that is fit for nothing alone", oneLeft, [], { node: "pg3", isAll: false }, null],
    ["of one that has left", oneLeft, [], { node: "pg9", isAll: true }, null],
  ];

suite("the dialog of a drain says who loses the last server, as the command does", () => {
  for (const [title, cluster, pools, order, said] of rows)
    test(title, async () => {
      assert.equal(lostClients(cluster, pools, order), said);
      const extent = order.isAll ? "all" : "replica";
      const server = { getObject: () => Promise.resolve({ pools }) };
      assert.equal(await lostByCommand(server as never, cluster as never, { node: order.node, extent }), said);
    });
});
