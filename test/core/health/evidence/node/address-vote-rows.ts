/** More of what servers say, and which address becomes pg2's: where one vote decides. */
import type { AddressChoiceRow } from "./address-choice-rows.ts";

const seed = { configured: true, puts: "b" } as const;
const omits = { configured: true, puts: "none" } as const;
const hostile = { configured: true, puts: "x" } as const;

export const addressVoteRows: readonly AddressChoiceRow[] = [
  {
    given: "two lists against one for an address where nobody answers",
    servers: {
      a: { is: "pg1", ...seed },
      c: { is: "pg3", ...seed },
      b: { is: "pg2" },
      x: { is: "pg9", configured: true, puts: "y" },
    },
    own: "b",
    settled: true,
  },
  {
    given: "a configured member without a list, against a list",
    servers: { b: { is: "pg2", configured: true }, a: { is: "pg1", configured: true, puts: "y" }, y: { is: "pg2" } },
    own: "b",
    disputed: ["b", "y"],
  },
  {
    given: "two servers whose names are unknown, against a hostile one",
    servers: {
      a: { is: null, ...seed },
      c: { is: null, ...seed },
      b: { is: "pg2" },
      x: { is: "pg2", ...hostile },
    },
    own: "b",
    settled: true,
    disputed: ["b", "x"],
  },
  {
    given: "an address with a vote, against one list with another one where nobody answers",
    servers: { a: { is: "pg1", ...seed }, x: { is: "pg2", ...hostile } },
    present: { at: "x", proof: "proved" },
    own: null,
  },
  {
    given: "an address without a vote, against one list with another one where nobody answers",
    servers: { a: { is: "pg1", ...seed }, x: { is: "pg2" } },
    present: { at: "x", proof: "proved" },
    own: "none",
    disputed: ["x"],
  },
  {
    given: "an address that proved itself, and another one with as many votes",
    servers: { x: { is: "pg2", ...hostile }, y: { is: "pg2", configured: true, puts: "y" } },
    present: { at: "x", proof: "proved" },
    own: "none",
    disputed: ["x", "y"],
  },
  {
    given: "an address that proved itself, and whose list has another one that proves itself, too",
    servers: { vip: { is: "pg2", ...seed }, b: { is: "pg2" } },
    present: { at: "vip", proof: "proved" },
    own: "b",
    settled: true,
    disputed: ["b", "vip"],
  },
  {
    given: "an invented member, while two seeds that omit it are known under one name",
    servers: { a: { is: "pg1", ...omits }, c: { is: "pg1", ...omits }, x: { is: "pg2", ...hostile } },
    own: null,
    disputed: ["x"],
  },
  {
    given: "a hostile seed, while two seeds with the listed address are known under one name",
    servers: {
      a: { is: "pg1", ...seed },
      c: { is: "pg1", ...seed },
      b: { is: "pg2" },
      x: { is: "pg2", ...hostile },
    },
    own: null,
    disputed: ["b", "x"],
  },
  {
    given: "a configured member, while the only other list is a hostile one that omits it",
    servers: { b: { is: "pg2", ...seed }, x: { is: "pg9", ...omits }, a: { is: "pg1", ...seed, fails: true } },
    own: "b",
  },
  {
    given: "a configured member, while a hostile list has another one and two seeds are known under its name",
    servers: {
      a: { is: "pg2", ...seed },
      b: { is: "pg2", ...seed },
      x: { is: "pg9", configured: true, puts: "y" },
      y: { is: "pg2" },
    },
    own: "b",
    disputed: ["b", "y"],
  },
  {
    given: "a configured member that is known at its address, and that two addresses of one seed omit for a while",
    servers: { a: { is: "pg1", ...omits }, vip: { is: "pg1", ...omits }, b: { is: "pg2", ...seed } },
    present: { at: "b", proof: "proved" },
    own: null,
  },
  {
    given: "two lists for an address, while a hostile one is listed by three addresses of one server",
    servers: {
      a: { is: "pg1", ...seed },
      c: { is: "pg3", ...seed },
      b: { is: "pg2" },
      x: { is: "pg2" },
      y1: { is: "pg9", ...hostile },
      y2: { is: "pg9", ...hostile },
      y3: { is: "pg9", ...hostile },
    },
    own: "b",
    settled: true,
    disputed: ["b", "x"],
  },
  {
    given: "two addresses without a vote, one of which is configured",
    servers: { s: { is: "pg2", configured: true, puts: "unusable" }, b: { is: "pg2" } },
    own: "s",
    settled: true,
    disputed: ["b", "s"],
  },
  {
    given: "a list that may lack members, and has the member at one of two addresses",
    servers: { a: { is: "pg1", ...seed, partial: true }, b: { is: "pg2" }, x: { is: "pg2" } },
    own: "b",
    settled: true,
    disputed: ["b", "x"],
  },
  {
    given: "a list that may lack members, and lacks the member, beside one that has it",
    servers: { a: { is: "pg1", ...seed }, c: { is: "pg3", ...omits, partial: true }, b: { is: "pg2" } },
    own: "b",
    settled: true,
  },
];
