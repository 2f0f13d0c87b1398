/** What servers say, and which address becomes a member's (rule 10). The member is pg2. */
import type { Proof } from "../../../../../src/core/cluster/observation.ts";

/** What a server says: the member that it is, and the address of pg2 in its list. */
export interface Says {
  readonly is: string | null;
  /** An address; `none` if its list omits pg2, `unusable` if it has no usable address for it. Default: no list. */
  readonly puts?: string;
  /** Whether its list may lack members. */
  readonly partial?: boolean;
  readonly configured?: boolean;
  readonly proved?: boolean;
  readonly fails?: boolean;
  readonly ofOtherSystem?: boolean;
}

export interface AddressChoiceRow {
  readonly given: string;
  /** Address -> what the server there says. */
  readonly servers: Readonly<Record<string, Says>>;
  readonly present?: { readonly at: string; readonly proof: Proof };
  /** The address, `none` if pg2 loses its address, `null` if it stays as it is. */
  readonly own: string | null;
  readonly settled?: boolean;
  readonly disputed?: readonly string[];
  readonly fixed?: readonly string[];
}

const seed = { configured: true, puts: "b" } as const;
const omits = { configured: true, puts: "none" } as const;
const stale = { configured: true, puts: "c" } as const;
const hostile = { configured: true, puts: "x" } as const;

export const addressChoiceRows: readonly AddressChoiceRow[] = [
  {
    given: "three seeds that agree",
    servers: { a: { is: "pg1", ...seed }, b: { is: "pg2", ...seed }, c: { is: "pg3", ...seed } },
    own: "b",
    settled: true,
  },
  { given: "one server, and no list of anybody", servers: { b: { is: "pg2" } }, own: "b" },
  {
    given: "an address that only a list gives, and that proves itself",
    servers: { a: { is: "pg1", ...seed }, b: { is: "pg2" } },
    own: "b",
    settled: true,
  },
  { given: "an address that a list gives, where nobody answers", servers: { a: { is: "pg1", ...seed } }, own: null },
  {
    given: "a hostile server that answers under the name of a member that is down",
    servers: { a: { is: "pg1", ...seed }, c: { is: "pg3", ...seed }, x: { is: "pg2", ...hostile } },
    own: null,
    disputed: ["x"],
  },
  {
    given: "the same at an address that only the hostile seed lists",
    servers: { x: { is: "pg9", configured: true, puts: "y" }, y: { is: "pg2" }, c: { is: "pg3", ...seed } },
    own: null,
    disputed: ["y"],
  },
  {
    given: "a hostile seed that is the only configured address with the name",
    servers: { a: { is: "pg1", ...seed }, c: { is: "pg3", ...seed }, b: { is: "pg2" }, x: { is: "pg2", ...hostile } },
    own: "b",
    settled: true,
    disputed: ["b", "x"],
  },
  {
    given: "a tie between a configured address and another one",
    servers: { b: { is: "pg2", ...seed }, x: { is: "pg1", configured: true, puts: "y" }, y: { is: "pg2" } },
    own: "b",
    disputed: ["b", "y"],
  },
  {
    given: "a configured member that one of two lists omits",
    servers: { b: { is: "pg2", ...seed }, a: { is: "pg1", ...omits } },
    own: "b",
  },
  {
    given: "a listed member that one of two lists omits",
    servers: { a: { is: "pg1", ...seed }, c: { is: "pg3", ...omits }, b: { is: "pg2" } },
    own: null,
    disputed: ["b"],
  },
  {
    given: "a configured member that two of three lists omit",
    servers: { b: { is: "pg2", ...seed }, a: { is: "pg1", ...omits }, c: { is: "pg3", ...omits } },
    own: null,
    disputed: ["b"],
  },
  {
    given: "a tie between two configured addresses",
    servers: { b: { is: "pg2", ...seed }, x: { is: "pg2", ...hostile } },
    own: null,
    disputed: ["b", "x"],
  },
  {
    given: "a Service that leads to the member, whose list has it at its own address",
    servers: { vip: { is: "pg2", ...seed }, b: { is: "pg2" } },
    own: "b",
    settled: true,
  },
  {
    given: "a Service that leads to the member, which does not answer at its own address",
    servers: { vip: { is: "pg2", ...seed } },
    own: null,
    disputed: ["vip"],
  },
  {
    given: "lists without a usable address for the member",
    servers: {
      a: { is: "pg1", configured: true, puts: "unusable" },
      s: { is: "pg2", configured: true, puts: "unusable" },
    },
    own: "s",
    settled: true,
  },
  {
    given: "a configured member whose API gives no list",
    servers: { b: { is: "pg2", configured: true }, a: { is: "pg1", ...seed } },
    own: "b",
  },
  {
    given: "a settled address, although all lists have another one that answers too",
    servers: { a: { is: "pg1", ...seed }, c: { is: "pg3", ...seed }, b: { is: "pg2" }, old: { is: "pg2" } },
    present: { at: "old", proof: "settled" },
    own: "old",
    settled: true,
    disputed: ["b", "old"],
  },
  {
    given: "a settled address whose server fails, and another one that all lists have",
    servers: {
      a: { is: "pg1", ...seed },
      c: { is: "pg3", ...seed },
      b: { is: "pg2" },
      old: { is: "pg2", fails: true },
    },
    present: { at: "old", proof: "settled" },
    own: "b",
    settled: true,
  },
  {
    given: "an address that was taken while most seeds were silent, against their lists",
    servers: { a: { is: "pg1", ...seed }, c: { is: "pg3", ...seed }, b: { is: "pg2" }, x: { is: "pg2", puts: "x" } },
    present: { at: "x", proof: "proved" },
    own: "b",
    settled: true,
    disputed: ["b", "x"],
  },
  {
    given: "the same, while nobody answers at the address in their lists",
    servers: { a: { is: "pg1", ...seed }, c: { is: "pg3", ...seed }, x: { is: "pg2", puts: "x" } },
    present: { at: "x", proof: "proved" },
    own: "none",
    disputed: ["x"],
  },
  {
    given: "an address whose server has another database system, against one in a list",
    servers: { a: { is: "pg1", ...seed }, b: { is: "pg2" }, old: { is: "pg2", configured: true, ofOtherSystem: true } },
    present: { at: "old", proof: "settled" },
    own: "b",
    disputed: ["b", "old"],
  },
  {
    given: "a node of another database system, which has no vote on itself, against one list",
    servers: { a: { is: "pg1", ...seed }, x: { is: "pg2", ...hostile, ofOtherSystem: true }, b: { is: "pg2" } },
    own: "b",
    disputed: ["b", "x"],
  },
  {
    given: "a hostile server whose system is the leader's, while only the member itself answers, too",
    servers: { x: { is: "pg2", ...hostile }, b: { is: "pg2", ...seed, ofOtherSystem: true } },
    own: "x",
    disputed: ["b", "x"],
  },
  {
    given: "several addresses of one server that say the same",
    servers: {
      x: { is: "pg9", configured: true, puts: "y" },
      x2: { is: "pg9", configured: true, puts: "y" },
      a: { is: "pg1", ...seed },
      c: { is: "pg3", ...seed },
      b: { is: "pg2" },
      y: { is: "pg2" },
    },
    own: "b",
    settled: true,
    disputed: ["b", "y"],
  },
  {
    given: "a Service that answered under two names, and a node",
    servers: { vip: { is: "pg1", ...seed }, b: { is: "pg2", proved: true }, y: { is: "pg2", proved: true, puts: "y" } },
    own: "b",
    settled: true,
    disputed: ["b", "y"],
  },
  {
    given: "proved nodes that most lists of configured addresses lack",
    servers: {
      x: { is: "pg9", configured: true, puts: "y" },
      f1: { is: "f1", proved: true, puts: "y" },
      f2: { is: "f2", proved: true, puts: "y" },
      a: { is: "pg1", ...seed },
      c: { is: "pg3", ...seed },
      b: { is: "pg2" },
      y: { is: "pg2" },
    },
    own: "b",
    settled: true,
    disputed: ["b", "y"],
  },
  {
    given: "proved nodes, while no configured address answers",
    servers: {
      x: { is: "pg9", configured: true, puts: "y", fails: true },
      a: { is: "pg1", proved: true, puts: "b" },
      c: { is: "pg3", proved: true, puts: "b" },
      b: { is: "pg2" },
      y: { is: "pg2" },
    },
    own: "b",
    disputed: ["b", "y"],
  },
  {
    given: "a member that has a new address, while all lists have the old one, which is another member's",
    servers: { a: { is: "pg1", ...stale }, d: { is: "pg4", ...stale }, c: { is: "pg3" }, b: { is: "pg2" } },
    own: null,
    disputed: ["b"],
  },
  {
    given: "a hostile seed meanwhile",
    servers: { a: { is: "pg1", ...stale }, d: { is: "pg4", ...stale }, c: { is: "pg3" }, x: { is: "pg2", ...hostile } },
    own: null,
    disputed: ["x"],
  },
  {
    given: "a hostile seed, while only one of two lists has the new address",
    servers: { a: { is: "pg1", ...stale }, d: { is: "pg4", ...seed }, c: { is: "pg3" }, x: { is: "pg2", ...hostile } },
    own: null,
    disputed: ["x"],
  },
  {
    given: "a server at the address of a configured node",
    servers: { a: { is: "pg1", ...seed }, b: { is: "pg2" } },
    fixed: ["b"],
    own: null,
  },
  {
    given: "an address that no list has ever given, while all members are silent",
    servers: {
      a: { is: "pg1", proved: true, puts: "b", fails: true },
      b: { is: "pg2", puts: "b", fails: true },
      x: { is: "pg2", puts: "x" },
    },
    present: { at: "b", proof: "settled" },
    own: null,
    disputed: ["x"],
  },
  {
    given: "the same, while a configured address answers without a list",
    servers: {
      a: { is: "pg1", proved: true, puts: "b", fails: true },
      b: { is: "pg2", puts: "b", fails: true },
      c: { is: "pg3", configured: true },
      x: { is: "pg2", puts: "x" },
    },
    present: { at: "b", proof: "settled" },
    own: null,
    disputed: ["x"],
  },
  {
    given: "an address that the last list of a silent member has",
    servers: {
      a: { is: "pg1", proved: true, puts: "n", fails: true },
      b: { is: "pg2", puts: "b", fails: true },
      n: { is: "pg2", puts: "n" },
    },
    present: { at: "b", proof: "settled" },
    own: "n",
  },
  {
    given: "an address that the last list of a silent member omits",
    servers: { a: { is: "pg1", proved: true, puts: "none", fails: true }, n: { is: "pg2", puts: "n" } },
    own: null,
    disputed: ["n"],
  },
  {
    given: "a configured address, against the last list of a silent member",
    servers: { a: { is: "pg1", proved: true, puts: "b", fails: true }, n: { is: "pg2", configured: true } },
    present: { at: "b", proof: "settled" },
    own: "n",
  },
  {
    given: "an address that a list gives, against the last lists of silent members",
    servers: {
      a: { is: "pg1", configured: true, puts: "n" },
      c: { is: "pg3", proved: true, puts: "b", fails: true },
      d: { is: "pg4", proved: true, puts: "b", fails: true },
      n: { is: "pg2", puts: "n" },
    },
    present: { at: "b", proof: "settled" },
    own: "n",
    settled: true,
  },
];
