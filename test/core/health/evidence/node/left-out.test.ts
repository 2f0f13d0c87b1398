/** Which members of a list have no address, and are left out (rule 10). The list is that of a seed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { leftOutOf, leftOutText } from "../../../../../src/core/health/evidence/node/left-out.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { seedUrl } from "../../../../fake/member-lists.ts";

type Rows = readonly (readonly [name: string, api: string | null])[];

interface Row {
  readonly given: string;
  readonly nodes?: ConstructorParameters<typeof ClusterFixture>[0];
  readonly list: Rows;
  readonly leftOut: readonly string[];
}

const pg1 = ["pg1", "http://pg1:8008/patroni"] as const;
const discovers = { nodes: [], cluster: { discover: [seedUrl] } };

const table: readonly Row[] = [
  { given: "every member has an address", list: [pg1, ["pg2", "http://pg2:8008"]], leftOut: [] },
  {
    given: "a member has none",
    list: [pg1, ["pg2", "http://:8008/patroni"]],
    leftOut: ["member pg2 is listed without a usable api_url"],
  },
  {
    given: "a member has none, and is configured",
    nodes: { nodes: ["pg2"], cluster: { discover: [seedUrl] } },
    list: [pg1, ["pg2", null]],
    leftOut: [],
  },
  {
    given: "all nodes are configured",
    nodes: { nodes: ["pg1"] },
    list: [pg1, ["pg2", null], ["a/b", null]],
    leftOut: [],
  },
  {
    given: "not every configured address was asked",
    nodes: { ...discovers, isStarting: true },
    list: [pg1, ["pg2", null]],
    leftOut: [],
  },
  {
    given: "two members have one address: the first by name is probed there",
    list: [["pg2", pg1[1]], pg1],
    leftOut: ["member pg2 is listed with the api_url of another member"],
  },
  {
    given: "two rows have one name",
    list: [pg1, ["pg1", "http://b:8008"]],
    leftOut: ["member pg1 is listed more than once: the first row with an api_url counts"],
  },
  {
    given: "a name cannot be used",
    list: [pg1, ["a/b", "http://b:8008"], ["a/b", "http://c:8008"]],
    leftOut: ["a member is listed under a name that cannot be used: a/b"],
  },
  {
    given: "there are 128 members",
    list: Array.from({ length: 128 }, (_, at) => [`pg${at}`, `http://h${at}:8008`] as const),
    leftOut: [],
  },
  {
    given: "there are more members than are known of a cluster",
    list: Array.from({ length: 140 }, (_, at) => [`pg${at}`, `http://h${at}:8008`] as const),
    leftOut: ["member pg128 is past the 128 members of a cluster that are known: others come before it"],
  },
  {
    given: "there are more members than are kept of a list",
    list: Array.from({ length: 300 }, (_, at) => [`pg${at}`, `http://h${at}:8008`] as const),
    leftOut: ["member pg128 is past the 128 members of a cluster that are known: others come before it"],
  },
  {
    given: "there are more rows than are kept of a list, and every member that is kept is known",
    list: [...Array.from({ length: 256 }, () => pg1), ["pg9", "http://pg9:8008"]],
    leftOut: [
      "member pg1 is listed more than once: the first row with an api_url counts",
      "member pg9 is past the 128 members of a cluster that are known: others come before it",
    ],
  },
  {
    given: "there are more members than are known, and one of them has no address",
    list: [
      ["pg0", null],
      ...Array.from({ length: 140 }, (_, at) => [`pg${at + 1}`, `http://h${at + 1}:8008`] as const),
    ],
    leftOut: [
      "member pg0 is listed without a usable api_url",
      "member pg129 is past the 128 members of a cluster that are known: others come before it",
    ],
  },
];

for (const { given, nodes = discovers, list, leftOut } of table)
  test(given, () => {
    const watched = new ClusterFixture(nodes);
    const members = list.map(([name, api]) => ({ name, role: "replica", api_url: api }));
    const of = watched.cluster.nodes[0]?.node.name ?? seedUrl;
    watched.document("cluster", { of: watched.policy.discovers ? seedUrl : of, value: { scope: "demo", members } }, 0);
    assert.deepEqual(leftOutOf(watched.cluster, watched.policy).map(leftOutText), leftOut);
  });

test("a member that a newer list has at an address is not left out", () => {
  const watched = new ClusterFixture(discovers);
  const listed = (api: string | null, atMs: number): readonly string[] => {
    const members = [pg1, ["pg2", api] as const].map(([name, api_url]) => ({ name, role: "replica", api_url }));
    watched.document("cluster", { of: seedUrl, value: { scope: "demo", members } }, atMs);
    return leftOutOf(watched.cluster, watched.policy).map(({ member }) => member);
  };
  assert.deepEqual(listed(null, 0), ["pg2"]);
  assert.deepEqual(listed("http://pg2:8008", 1_000), []);
  // The address is kept: the member was found there.
  assert.deepEqual(listed(null, 2_000), []);
});
