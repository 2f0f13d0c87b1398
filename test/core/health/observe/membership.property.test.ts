import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { ClusterFixture } from "../../../fake/cluster-fixture.ts";

const seed = "http://seed:8008";
const names = ["pg1", "pg2", "pg3", "pg4"] as const;
const hosts = ["pg1", "pg2", "pg3", "pg4", "clone1", "clone2", "clone3", "clone4", "new"] as const;

interface Row {
  readonly name: string;
  readonly host: string;
}

/** A document of a member list; `leader` is the name of the row that it names. */
function list(
  watched: ClusterFixture,
  from: { readonly of: string; readonly leader: string | null; readonly rows: readonly Row[] },
  atMs: number,
): void {
  const members = from.rows.map(({ name, host }) => ({
    name,
    role: name === from.leader ? "leader" : "replica",
    api_url: `http://${host}:8008/patroni`,
    host,
    port: 5432,
  }));
  watched.document("cluster", { of: from.of, value: { scope: "demo", members } }, atMs);
}

function addressOf({ cluster }: ClusterFixture, name: string): string | null {
  return cluster.nodes.find(({ node }) => node.name === name)?.node.api ?? null;
}

function databaseOf({ cluster }: ClusterFixture, name: string): string | undefined {
  return cluster.nodes.find(({ node }) => node.name === name)?.node.database?.host;
}

const at = (host: string): string => `http://${host}:8008`;

/** Any list of another cluster. Its names may be ours. Its addresses may be its own or ours. */
const rogueRows = fc.uniqueArray(
  fc.record({ name: fc.constantFrom(...names, "bogus1", "bogus2"), host: fc.constantFrom(...hosts) }),
  {
    minLength: 1,
    maxLength: 6,
    selector: ({ name }) => name,
  },
);
const rogue = fc.record({
  // The answering server may be a seed, a stranger, or the clone that took over pg4's address and calls itself pg4.
  of: fc.constantFrom(seed, "http://elsewhere:1", "pg4", "bogus1"),
  leader: fc.constantFrom(...names, null),
  rows: rogueRows,
});

/** Probe results: our nodes that are up, at the addresses that we have for them. */
function probe(watched: ClusterFixture, truth: ReadonlyMap<string, string>, atMs: number): void {
  const here = new Map([...truth].map(([name, host]) => [at(host), name]));
  for (const { node } of watched.cluster.nodes) {
    const found = node.api === null ? undefined : here.get(node.api);
    const fields = { patroni: { version: "4.1.4", scope: "demo", name: found ?? "" } };
    if (found === undefined) watched.fail(node.name, "timeout", atMs);
    else if (found === "pg1") watched.lead(node.name, atMs, fields);
    else watched.follow(node.name, atMs, fields);
  }
}

function clusterOf(truth: ReadonlyMap<string, string>): { leader: string; rows: readonly Row[] } {
  return { leader: "pg1", rows: [...truth].map(([name, host]) => ({ name, host })) };
}

test("lists from another cluster never take a node's address or yes while it answers", () => {
  fc.assert(
    fc.property(
      fc.array(rogue, { maxLength: 30 }),
      fc.shuffledSubarray([...names], { minLength: 4 }),
      (rogues, order) => {
        const watched = new ClusterFixture({ nodes: [], cluster: { discover: [seed] }, policy: { intervalMs: 1_000 } });
        const truth = new Map(order.map((name) => [name, name]));
        list(watched, { of: seed, ...clusterOf(truth) }, 0);
        probe(watched, truth, 1);
        let atMs = 1;
        for (const from of rogues) {
          list(watched, from, atMs + 1);
          for (const name of ["pg1", "pg2", "pg3"]) {
            assert.equal(addressOf(watched, name), at(name));
            assert.ok(
              hosts.slice(0, 4).some((host) => host === databaseOf(watched, name)),
              "the database of a node that answers is its own",
            );
          }
          atMs += 1_000;
          probe(watched, truth, atMs);
          const proved = watched.cluster.nodes.filter(({ proof }) => proof !== "none");
          const addresses = proved.map(({ node }) => node.api);
          assert.equal(new Set(addresses).size, addresses.length, "an address belongs to one node");
        }
      },
    ),
    { numRuns: 100 },
  );
});

test("the order of rows in a list does not matter", () => {
  fc.assert(
    fc.property(
      fc.array(rogue, { minLength: 1, maxLength: 6 }),
      fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }),
      (lists, answers) => {
        const play = (turned: boolean): readonly string[] => {
          const watched = new ClusterFixture({
            nodes: [],
            cluster: { discover: [seed] },
            policy: { intervalMs: 1_000 },
          });
          list(watched, { of: seed, leader: "pg1", rows: names.map((name) => ({ name, host: name })) }, 0);
          for (const [step, from] of lists.entries()) {
            for (const [which, name] of names.entries()) {
              if (watched.cluster.index.has(name)) {
                if (answers[step * 4 + which] === true) watched.follow(name, step * 4_000 + 1);
                else
                  for (let time = 0; time < 3; time += 1)
                    watched.fail(name, "timeout", step * 4_000 + 1 + time * 1_000);
              }
            }
            list(watched, { ...from, rows: turned ? from.rows.toReversed() : from.rows }, step * 4_000 + 3_500);
          }
          return watched.cluster.nodes.map(({ node }) => `${node.name} ${node.api}`).toSorted();
        };
        assert.deepEqual(play(false), play(true));
      },
    ),
    { numRuns: 100 },
  );
});
