/** Which configured address is a member's although lists have the member elsewhere (rule 10). Addresses are hosts. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { noContact } from "../../../../../src/core/cluster/contact.ts";
import { neverProbed, type Proof } from "../../../../../src/core/cluster/observation.ts";
import type { ClusterState } from "../../../../../src/core/cluster/snapshot.ts";
import type { Electorate } from "../../../../../src/core/health/evidence/node/address-choice.ts";
import {
  isListedAddress,
  mayBeSeed,
  mayBeSeeds,
  seedAddressOf,
} from "../../../../../src/core/health/evidence/node/seed-addresses.ts";
import type { Server } from "../../../../../src/core/health/evidence/node/servers.ts";
import { discovered, withNodes } from "../../../../../src/core/health/observe/membership.ts";
import { ClusterFixture } from "../../../../fake/cluster-fixture.ts";
import { listingView, memberAt } from "../../../../fake/listing-view.ts";
import { reportOf } from "../../../../fake/node-documents.ts";

/** What a server says. */
interface Says {
  /** The name that it states; `null`: it states none. Absent: it has not answered. */
  readonly states?: string | null;
  readonly scope?: string;
  readonly system?: string;
  readonly namedInRow?: number;
  readonly configured?: boolean;
  /** Member name -> its host in the server's list. */
  readonly lists?: Readonly<Record<string, string>>;
}

function urlOf(host: string): string {
  return `http://${host}:8008`;
}

function serverAt(host: string, said: Says): Server {
  const { states, scope = "demo", system = "1", namedInRow = 3, configured = true, lists } = said;
  const rows = Object.entries(lists ?? {}).map(([name, of]) => [name, urlOf(of)]);
  return {
    api: urlOf(host),
    name: states ?? null,
    answers: true,
    isConfigured: configured,
    isOfOtherSystem: false,
    list: lists === undefined ? null : listingView(Object.fromEntries(rows) as Readonly<Record<string, string>>),
    stated: states === undefined ? null : { name: states, scope, system },
    namedInRow,
  };
}

function electorateWith(servers: Readonly<Record<string, Says>>): Electorate {
  const all = Object.entries(servers).map(([host, said]) => serverAt(host, said));
  return { servers: all, voters: all, silentVoters: [], configured: all.length };
}

const lists = { pg1: "in1", pg2: "in2" };
const pg1 = { states: "pg1", lists };
const pg2 = { states: "pg2", lists };

suite("the configured address that is pg2's", () => {
  const table: readonly (readonly [given: string, servers: Readonly<Record<string, Says>>, host: string | null])[] = [
    ["each configured address answers as a member that lists have elsewhere", { a: pg1, b: pg2 }, "b"],
    ["it is the only one", { b: pg2 }, "b"],
    ["it has answered so often enough, and no more", { a: pg1, b: { ...pg2, namedInRow: 3 } }, "b"],
    ["it has answered so once less", { a: pg1, b: { ...pg2, namedInRow: 2 } }, null],
    ["it has answered so more often", { a: pg1, b: { ...pg2, namedInRow: 4 } }, "b"],
    ["no address answers as it", { a: pg1, b: pg1 }, null],
    ["an address answers without a name", { a: pg1, b: { ...pg2, states: null } }, null],
    ["an address has not answered", { a: pg1, b: { lists } }, null],
    ["two addresses answer as it: a balancer's, or a clone's", { a: pg2, b: pg2 }, null],
    ["the address is not configured", { a: pg1, b: { ...pg2, configured: false } }, null],
    ["a list gives the address to it, too", { a: { ...pg1, lists: { pg2: "b" } }, b: pg2 }, "b"],
    ["a list gives the address to another member", { a: { ...pg1, lists: { pg3: "b" } }, b: pg2 }, null],
    [
      "lists give the address to it and to another member",
      { a: { ...pg1, lists: { pg2: "b" } }, b: { ...pg2, lists: { pg3: "b" } } },
      null,
    ],
    ["half of the addresses are of its system", { a: { ...pg1, system: "2" }, b: pg2 }, null],
    ["more than half are", { a: { ...pg1, system: "2" }, b: pg2, c: pg1 }, "b"],
    ["half of the addresses are of its scope", { a: { ...pg1, scope: "other" }, b: pg2 }, null],
    ["more than half are of its scope", { a: { ...pg1, scope: "other" }, b: pg2, c: pg1 }, "b"],
    [
      "two of five are of its scope and system, and others of one of these",
      {
        a: { ...pg1, scope: "other" },
        b: pg2,
        c: pg1,
        d: { ...pg1, system: "2" },
        e: { ...pg1, scope: "other", system: "2" },
      },
      null,
    ],
    ["addresses that have not answered do not count", { a: {}, b: pg2, c: {} }, "b"],
    [
      "addresses that are not configured do not count",
      { a: { ...pg1, system: "2", configured: false }, b: pg2, c: { ...pg1, system: "2", configured: false } },
      "b",
    ],
  ];
  for (const [given, servers, host] of table)
    test(given, () => {
      assert.equal(seedAddressOf("pg2", electorateWith(servers)), host === null ? null : urlOf(host));
    });
});

/** What is known: of pg2, and of the addresses that are no node's, as the name stated there and how often in a row. */
interface Known {
  readonly proof: Proof;
  readonly contacts: readonly (readonly [name: string | null, namedInRow: number] | null)[];
  readonly hasListedProof?: boolean;
}

function clusterOf({ proof, contacts, hasListedProof = false }: Known): ClusterState {
  const { cluster } = new ClusterFixture({ nodes: [], cluster: { discover: [urlOf("s0")] } });
  const nodes = [
    { ...neverProbed(discovered(memberAt("pg1", urlOf("in1")))), proof: "settled" as const },
    { ...neverProbed(discovered(memberAt("pg2", urlOf("in2")))), proof },
  ];
  const known = contacts.map((said, at) => {
    if (said === null) return [urlOf(`s${at}`), noContact] as const;
    const [name, namedInRow] = said;
    const report = { ...reportOf("pg2"), name };
    const answer = { report, hasLock: false, sentAtMs: 0, sentAtWallMs: 0 };
    return [urlOf(`s${at}`), { ...noContact, answer, namedInRow }] as const;
  });
  return { ...withNodes(cluster, nodes), contacts: new Map(known), hasListedProof };
}

suite("an address may be a member's, and has not answered often enough", () => {
  const table: readonly (readonly [given: string, known: Known, mayBe: boolean])[] = [
    ["it has answered once as a member without a proved address", { proof: "none", contacts: [["pg2", 1]] }, true],
    ["it has answered so once less than is enough", { proof: "none", contacts: [["pg2", 2]] }, true],
    ["it has answered so often enough", { proof: "none", contacts: [["pg2", 3]] }, false],
    ["it has answered so more often", { proof: "none", contacts: [["pg2", 4]] }, false],
    ["its last probe failed", { proof: "none", contacts: [["pg2", 0]] }, false],
    ["it has answered without a name", { proof: "none", contacts: [[null, 1]] }, false],
    ["it has not answered", { proof: "none", contacts: [null] }, false],
    ["there is no other address than nodes'", { proof: "none", contacts: [] }, false],
    ["it answers as nobody that is listed", { proof: "none", contacts: [["pg9", 1]] }, false],
    ["it answers as a member with a proved address", { proof: "none", contacts: [["pg1", 1]] }, false],
    ["the member has it already", { proof: "seed", contacts: [["pg2", 1]] }, false],
    ["the member has another one", { proof: "proved", contacts: [["pg2", 1]] }, false],
    ["listed addresses prove themselves", { proof: "none", contacts: [["pg2", 1]], hasListedProof: true }, false],
  ];
  for (const [given, known, mayBe] of table)
    test(`${given}: ${mayBe}`, () => {
      const cluster = clusterOf(known);
      assert.equal(mayBeSeed(cluster, urlOf("s0")), mayBe);
      assert.equal(mayBeSeeds(cluster), mayBe);
    });

  test("one of several addresses does", () => {
    const cluster = clusterOf({ proof: "none", contacts: [["pg1", 1], ["pg2", 1], null] });
    assert.deepEqual(
      ["s0", "s1", "s2", "s3"].filter((host) => mayBeSeed(cluster, urlOf(host))),
      ["s1"],
    );
    assert.equal(mayBeSeeds(cluster), true);
  });
});

suite("a list gives pg2 its own address", () => {
  const table: readonly (readonly [given: string, lists: readonly Says["lists"][], host: string, is: boolean])[] = [
    ["one list does", [{ pg1: "in1", pg2: "in2" }], "in2", true],
    ["all lists do", [{ pg2: "in2" }, { pg2: "in2" }], "in2", true],
    ["one list does, and others have nobody there", [{ pg2: "in2" }, { pg1: "in1" }, undefined], "in2", true],
    ["no list has anybody there", [{ pg1: "in1", pg2: "in2" }], "elsewhere", false],
    ["there is no list", [undefined], "in2", false],
    ["a list has another member there", [{ pg1: "in2" }], "in2", false],
    ["a list has it and another member there", [{ pg1: "in2", pg2: "in2" }], "in2", false],
    ["a list has it there, and another one another member", [{ pg2: "in2" }, { pg1: "in2" }], "in2", false],
    ["it is an address of the machine that reads it: 127.0.0.1", [{ pg2: "127.0.0.1" }], "127.0.0.1", false],
    ["the same: 127.0.1.1", [{ pg2: "127.0.1.1" }], "127.0.1.1", false],
    ["the same: localhost", [{ pg2: "localhost" }], "localhost", false],
    ["the same: ::1", [{ pg2: "[::1]" }], "[::1]", false],
    ["a host whose name begins like one", [{ pg2: "localhost.example" }], "localhost.example", true],
    ["an address that ends like one", [{ pg2: "10.127.0.1" }], "10.127.0.1", true],
  ];
  for (const [given, all, host, is] of table)
    test(`${given}: ${is}`, () => {
      const servers = all.map((each, at) => [`s${at}`, each === undefined ? {} : { lists: each }] as const);
      assert.equal(isListedAddress("pg2", urlOf(host), electorateWith(Object.fromEntries(servers))), is);
    });
});
