import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BackendCount } from "../../../../src/core/http/message/server-census.ts";
import { type CheckedRoute, checkedRoute } from "../../../../src/features/switchover/hands/checked-route.ts";

const row: BackendCount = {
  backend: "write",
  server: "pg2",
  cluster: "demo",
  route: "primary",
  status: 200,
  reason: null,
  agoMs: 100,
  takes: true,
  count: 10,
};
const old: BackendCount = { ...row, server: "pg1", status: 503, reason: "demoted", takes: false };
/** The node has been the primary for so long, in ms. */
const sinceMs = 500;

const cases: readonly { readonly title: string; readonly rows: readonly BackendCount[]; readonly is: CheckedRoute }[] =
  [
    { title: "nobody checks", rows: [], is: "unseen" },
    { title: "the new primary is up and the old one down", rows: [row, old], is: "leads" },
    { title: "the new primary is not up yet", rows: [{ ...row, takes: false }, old], is: "elsewhere" },
    { title: "the old primary is still up", rows: [row, { ...old, takes: true }], is: "elsewhere" },
    { title: "the new primary was not checked since", rows: [{ ...row, agoMs: 600 }, old], is: "elsewhere" },
    { title: "the old primary was not checked since", rows: [row, { ...old, agoMs: 600 }], is: "elsewhere" },
    { title: "the new primary is in no backend", rows: [old], is: "elsewhere" },
    {
      title: "one of two balancers is not ready",
      rows: [row, old, { ...row, backend: "w2", takes: false }, { ...old, backend: "w2" }],
      is: "elsewhere",
    },
    {
      title: "both balancers are ready",
      rows: [row, old, { ...row, backend: "w2" }, { ...old, backend: "w2" }],
      is: "leads",
    },
    {
      title: "checks of replicas do not matter",
      rows: [row, old, { ...old, backend: "r", route: "replica", takes: true }],
      is: "leads",
    },
    {
      title: "checks of other clusters do not matter",
      rows: [row, old, { ...old, cluster: "other", takes: true }],
      is: "leads",
    },
    {
      title: "a backend that went away does not matter",
      rows: [row, old, { ...old, backend: "gone", takes: true, agoMs: 60_000 }],
      is: "leads",
    },
    { title: "servers with other names say nothing", rows: [{ ...row, server: "srv1" }], is: "unseen" },
    {
      title: "of two processes that answer the newest counts",
      rows: [row, { ...row, takes: false, agoMs: 300 }, old, { ...old, takes: true, agoMs: 300 }],
      is: "leads",
    },
  ];

describe("the way to a new primary, as checks of balancers show it", () => {
  for (const { title, rows, is } of cases)
    test(title, () => {
      const to = { cluster: "demo", node: "pg2", nodes: ["pg1", "pg2", "pg3"] };
      assert.equal(checkedRoute(rows, to, sinceMs), is);
    });
});
