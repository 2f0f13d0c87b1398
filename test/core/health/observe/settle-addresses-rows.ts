/** Which address becomes whose after new evidence (rule 10). Addresses are hosts, as `a`. */
import { down, lists, nodeAs, says, statedBy, type Given } from "./unsettled-cluster.ts";

const pg2 = statedBy("pg2");

/** What is known, and the nodes once that is settled. */
export interface Row extends Given {
  readonly given: string;
  /** The nodes afterwards. */
  readonly found: readonly string[];
  /** The nodes for which what answered at their new address counts. Default: none. */
  readonly taken?: readonly string[];
  /** Nodes whose evidence is the same object as before: nothing new is known of them. */
  readonly same?: readonly string[];
}

/** A list has pg2 at b, where it answers. */
export const toB = { s: says("s", lists({ pg1: "a", pg2: "b" })), b: says("pg2") };
/** A configured address answers as pg2 often enough. Nothing does where the list has it. */
export const nat = { s: says("pg2", lists({ pg2: "in2" }), { namedInRow: 3 }) };

export const rows: readonly Row[] = [
  { given: "a listed member answers at its address", at: toB, found: ["pg2 b settled"], taken: ["pg2"] },
  {
    given: "a known member answers at its address",
    nodes: [nodeAs("pg1 a"), nodeAs("pg2 b")],
    at: toB,
    found: ["pg1 a none", "pg2 b settled"],
    taken: ["pg2"],
    same: ["pg1"],
  },
  {
    given: "somebody answers whom no list has",
    at: { s: says("s", lists({ pg1: "a" })), b: says("pg2") },
    found: [],
  },
  {
    given: "two of three lists have the member that answers",
    discover: ["s1", "s2", "s3"],
    at: {
      s1: says("s1", lists({ pg2: "b" })),
      s2: says("s2", lists({ pg2: "b" })),
      s3: says("s3", lists({ pg1: "a" })),
      b: says("pg2"),
    },
    found: ["pg2 b settled"],
    taken: ["pg2"],
  },
  {
    given: "lists have no usable address for a member, which answers at a configured one",
    at: { s: says("pg2", lists({ pg2: "-" })) },
    found: ["pg2 s settled"],
    taken: ["pg2"],
  },
  {
    given: "a member's address begins to be another one",
    nodes: [nodeAs("pg2 a settled", down)],
    at: toB,
    found: ["pg2 b settled"],
    taken: ["pg2"],
  },
  {
    given: "another member is listed where a member was until now",
    nodes: [nodeAs("pg2 a settled", down), nodeAs("pg3 a")],
    at: { ...toB, s: says("s", lists({ pg2: "b", pg3: "a" })) },
    found: ["pg2 b settled", "pg3 a none"],
    taken: ["pg2"],
    same: ["pg3"],
  },
  {
    given: "the address of a member is proved again: its evidence stays",
    nodes: [nodeAs("pg2 b settled", { report: pg2 })],
    at: { s: toB.s },
    found: ["pg2 b settled"],
    same: ["pg2"],
  },
  {
    given: "configured addresses were not all asked, and the member has no address of its own",
    nodes: [nodeAs("pg2 b")],
    at: toB,
    state: { hasAskedAll: false },
    found: ["pg2 b none"],
    same: ["pg2"],
  },
  {
    given: "they were not all asked, and the member is new",
    at: toB,
    state: { hasAskedAll: false },
    found: [],
  },
  {
    given: "they were not all asked, and a member that had proved itself moves",
    nodes: [nodeAs("pg2 a proved", down)],
    at: toB,
    state: { hasAskedAll: false },
    found: ["pg2 b settled"],
    taken: ["pg2"],
  },
  {
    given: "a configured address answers as a member, and nothing at the listed one",
    nodes: [nodeAs("pg2 in2")],
    at: nat,
    found: ["pg2 s seed"],
    taken: ["pg2"],
  },
  {
    given: "the same, where listed addresses prove themselves",
    nodes: [nodeAs("pg2 in2")],
    at: nat,
    state: { hasListedProof: true },
    found: ["pg2 in2 none"],
    same: ["pg2"],
  },
  {
    given: "the member has the configured address already, whatever lists have",
    nodes: [nodeAs("pg2 s seed", { report: pg2 })],
    views: { pg2: lists({ pg2: "in2" }) },
    found: ["pg2 s seed"],
    same: ["pg2"],
  },
  {
    given: "the member has the configured address, and then lists have it there, too",
    nodes: [nodeAs("pg2 s seed", { report: pg2 })],
    views: { pg2: lists({ pg2: "s" }) },
    found: ["pg2 s settled"],
  },
  {
    given: "a member took its address while most configured ones were silent, and these agree later",
    nodes: [nodeAs("pg2 b proved", { report: pg2 })],
    at: { s: toB.s },
    found: ["pg2 b settled"],
  },
  {
    given: "only some of the later lists agree",
    discover: ["b", "a"],
    nodes: [nodeAs("pg2 b proved", { report: pg2 })],
    views: { pg2: lists({ pg2: "b" }) },
    at: { a: says("s", lists({ pg1: "c" })) },
    found: ["pg2 b proved"],
    same: ["pg2"],
  },
  {
    given: "a configured node answers under another name",
    nodes: [nodeAs("db1 a settled", { report: pg2, of: { isFixed: true } })],
    at: { s: says("s", lists({ pg2: "b" })) },
    found: ["db1 a settled"],
    same: ["db1"],
  },
  {
    given: "a member without a name in its answers lists two others at its address",
    nodes: [nodeAs("pg2 b settled", { report: statedBy(null) })],
    views: { pg2: lists({ pg3: "b", pg4: "b" }) },
    found: ["pg2 b settled"],
    same: ["pg2"],
  },
  {
    given: "a stranger answers at a member's address",
    nodes: [nodeAs("pg2 b settled", { report: statedBy("pg3") })],
    at: { s: says("s", lists({ pg2: "b" })) },
    found: ["pg2 b none"],
  },
  {
    given: "most configured addresses have a member elsewhere, where nobody answers",
    nodes: [nodeAs("pg2 x proved", { report: pg2 })],
    at: { s: says("s", lists({ pg2: "b" })) },
    found: ["pg2 b none"],
  },
  {
    given: "most configured addresses omit a member",
    nodes: [nodeAs("pg2 x proved", { report: pg2 })],
    at: { s: says("s", lists({ pg1: "a" })) },
    found: ["pg2 x none"],
  },
  {
    given: "a list still has a silent member at its address, others elsewhere",
    discover: ["s1", "s2", "s3"],
    nodes: [nodeAs("pg2 b")],
    at: {
      s1: says("s1", lists({ pg2: "b" })),
      s2: says("s2", lists({ pg2: "c" })),
      s3: says("s3", lists({ pg2: "c" })),
    },
    found: ["pg2 b none"],
    same: ["pg2"],
  },
  {
    given: "no list has a silent member at its address any more",
    nodes: [nodeAs("pg2 b")],
    at: { s: says("s", lists({ pg2: "c" })) },
    found: ["pg2 c none"],
  },
  {
    given: "most lists omit a silent member, and one has it elsewhere",
    discover: ["s1", "s2", "s3"],
    nodes: [nodeAs("pg2 b")],
    at: {
      s1: says("s1", lists({ pg2: "c" })),
      s2: says("s2", lists({ pg1: "a" })),
      s3: says("s3", lists({ pg1: "a" })),
    },
    found: ["pg2 b none"],
    same: ["pg2"],
  },
  {
    given: "a list has a silent member where another one answers",
    nodes: [nodeAs("pg3 b settled", { report: statedBy("pg3") }), nodeAs("pg2 b")],
    at: { s: says("s", lists({ pg2: "b", pg3: "b" })) },
    found: ["pg3 b settled", "pg2 - none"],
    same: ["pg3"],
  },
  {
    given: "no list has a silent member, and another one answers at its address",
    nodes: [nodeAs("pg3 b settled", { report: statedBy("pg3") }), nodeAs("pg2 b")],
    at: { s: says("s", lists({ pg3: "b" })) },
    found: ["pg3 b settled"],
    same: ["pg3"],
  },
  {
    given: "another one answers at a silent member's address, and lists have it elsewhere",
    nodes: [nodeAs("pg3 b settled", { report: statedBy("pg3") }), nodeAs("pg2 b")],
    at: { s: says("s", lists({ pg3: "b", pg2: "c" })) },
    found: ["pg3 b settled", "pg2 c none"],
    same: ["pg3"],
  },
  {
    given: "no list has a silent member, and nobody is at its address",
    nodes: [nodeAs("pg2 b")],
    at: { s: says("s", lists({ pg1: "a" })) },
    found: ["pg2 b none"],
    same: ["pg2"],
  },
  {
    given: "a stranger answers at a member's address, which is one of two that lists have",
    discover: ["s1", "s2"],
    nodes: [nodeAs("pg2 c settled", { report: statedBy("pg3") })],
    at: { s1: says("s1", lists({ pg2: "b" })), s2: says("s2", lists({ pg2: "c" })) },
    found: ["pg2 c none"],
  },
  {
    given: "a stranger answers at a member's address, and lists have two others",
    discover: ["s1", "s2"],
    nodes: [nodeAs("pg2 x settled", { report: statedBy("pg3") })],
    at: { s1: says("s1", lists({ pg2: "c" })), s2: says("s2", lists({ pg2: "b" })) },
    found: ["pg2 b none"],
  },
  {
    given: "a configured node that is known through its exporter alone answers at a listed address",
    nodes: [nodeAs("db2 - none", { of: { member: "pg2", isFixed: true } })],
    at: toB,
    found: ["db2 b settled"],
    taken: ["db2"],
  },
];
