import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { Claim } from "../../../../src/features/switchover/claims/claim.ts";
import {
  ask,
  type ClaimBook,
  emptyBook,
  hold,
  nextGeneration,
  promise,
  renew,
  withoutClaim,
} from "../../../../src/features/switchover/claims/claim-book.ts";

const orders = (run: string, generation = 1, parts: Partial<Claim> = {}): Claim => ({
  run,
  cluster: "orders",
  generation,
  by: "core1",
  instance: run,
  databases: [{ pooler: "pgb1", database: "orders" }],
  ...parts,
});

/** Asks one book for a promise, and says in few words what it answers. */
function asked(book: ClaimBook, claim: Claim, nowMs = 0): { readonly said: string; readonly book: ClaimBook } {
  const { answer, book: after } = promise(book, claim, { open: [], nowMs });
  const said = answer.kind === "granted" ? "yes" : answer.isBehind ? `behind ${answer.generation}` : answer.why;
  return { said, book: after };
}

/** The book of a process that has begun to ask. */
function asking(claim: Claim, book = emptyBook): ClaimBook {
  const entered = ask(book, claim, { open: [], nowMs: 0 });
  assert.ok("book" in entered, "why" in entered ? entered.why : "");
  return entered.book;
}

describe("the right to run a switchover", () => {
  test("is promised once, until it is given back or its lease ends", () => {
    const { book } = asked(emptyBook, orders("a"));
    assert.equal(asked(book, orders("b", 2)).said, "a switchover of orders (a) is promised to core1");
    assert.equal(asked(book, orders("b", 2), 14_999).said, "a switchover of orders (a) is promised to core1");
    assert.equal(asked(book, orders("b", 2), 15_000).said, "yes");
    assert.equal(asked(withoutClaim(book, "a"), orders("b", 2)).said, "yes");
    assert.equal(asked(renew(book, "a", 10_000), orders("b", 2), 24_999).said.includes("promised"), true);
    assert.equal(asked(book, orders("a")).said, "yes", "who has it may ask again");
  });

  test("is free for another run of the process that has it: the one before is over", () => {
    const { book } = asked(emptyBook, orders("a", 1, { instance: "i1" }));
    const next = asked(book, orders("b", 2, { instance: "i1" }));
    assert.equal(next.said, "yes");
    assert.deepEqual(
      next.book.entries.map(({ claim }) => claim.run),
      ["b"],
    );
    const held = hold(asking(orders("a", 1, { instance: "i1" })), "a");
    assert.ok(held !== null);
    assert.match(asked(held, orders("b", 2, { instance: "i1" })).said, /goes on here/, "but not of this one");
  });

  test("is that of a cluster, and of each database of a pooler", () => {
    const { book } = asked(emptyBook, orders("a"));
    const billing = { cluster: "billing" };
    assert.match(asked(book, orders("b", 1, billing)).said, /switchover of orders \(a\)/, "the same database");
    const databases = [{ pooler: "pgb1", database: "billing" }];
    assert.equal(asked(book, orders("b", 1, { ...billing, databases })).said, "yes");
    assert.match(asked(book, orders("b", 2, { databases })).said, /promised/, "the same cluster");
  });

  test("needs a higher number than any run before", () => {
    const { book } = asked(emptyBook, orders("a", 7));
    const free = withoutClaim(book, "a");
    assert.equal(asked(free, orders("b", 7)).said, "behind 7");
    assert.equal(nextGeneration(free, "orders"), 8);
    assert.equal(asked(free, orders("b", 8)).said, "yes");
    assert.equal(nextGeneration(free, "billing"), 1);
  });

  test("is not promised while a run of another process is announced here, and not asked for either", () => {
    const open = [{ run: "x", cluster: "orders", databases: [], what: "the run of core3 goes on" }];
    const { answer } = promise(emptyBook, orders("a"), { open, nowMs: 0 });
    assert.equal(answer.kind === "denied" ? answer.why : null, "the run of core3 goes on");
    assert.deepEqual(ask(emptyBook, orders("a"), { open, nowMs: 0 }), { why: "the run of core3 goes on" });
    const own = promise(emptyBook, orders("x"), { open, nowMs: 0 });
    assert.equal(own.answer.kind, "granted", "it is the run itself");
  });

  test("is kept by who holds it, and yielded by who asks later in the order", () => {
    const held = hold(asking(orders("b")), "b");
    assert.ok(held !== null);
    assert.match(asked(held, orders("a", 2)).said, /\(b\) goes on here/);
    const two = asking(orders("b"));
    assert.match(asked(two, orders("c", 2)).said, /\(b\) begins here/);
    const yielded = asked(two, orders("a", 2));
    assert.equal(yielded.said, "yes");
    assert.equal(hold(yielded.book, "b"), null, "its own claim is over");
  });

  test("is had by one of several that ask each other at the same time, whatever comes first", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 4 }),
        fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 24 }),
        (count, order) => {
          const names = ["a", "b", "c", "d"].slice(0, count);
          const books = names.map((name) => asking(orders(name)));
          const yes = names.map(() => new Set<number>());
          // Each asks each other one once, in any order; what is not in it comes last.
          const questions = [...order, ...names.flatMap((_, from) => names.map((__, to) => [from, to] as const))];
          const done = new Set<string>();
          for (const [from, to] of questions) {
            const key = `${from}-${to}`;
            if (from === to || from >= count || to >= count || done.has(key)) continue;
            done.add(key);
            const { said, book } = asked(books[to] ?? emptyBook, orders(names[from] ?? ""));
            books[to] = book;
            // The numbers are equal: that of the second is raised, and it is asked again.
            const again = said.startsWith("behind") ? asked(book, orders(names[from] ?? "", 2)) : { said, book };
            books[to] = again.book;
            if (again.said === "yes") yes[from]?.add(to);
            const mine = books[from];
            if (yes[from]?.size === count - 1 && mine !== undefined)
              books[from] = hold(mine, names[from] ?? "") ?? mine;
          }
          const holders = books.filter((book, at) =>
            book.entries.some(({ claim, kind }) => kind === "held" && claim.run === names[at]),
          );
          assert.ok(holders.length <= 1, `${holders.length} hold it`);
        },
      ),
    );
  });

  test("is had by exactly one of two that ask each other at the same time", () => {
    for (const first of [0, 1]) {
      const claims = [orders("a"), orders("b")];
      const books = claims.map((claim) => asking(claim));
      const said = ["", ""];
      for (const from of first === 0 ? [0, 1] : [1, 0]) {
        const claim = claims[from];
        assert.ok(claim !== undefined);
        const answer = asked(books[1 - from] ?? emptyBook, { ...claim, generation: 2 });
        books[1 - from] = answer.book;
        said[from] = answer.said;
      }
      const holders = [0, 1].filter(
        (at) => said[at] === "yes" && hold(books[at] ?? emptyBook, ["a", "b"][at] ?? "") !== null,
      );
      assert.deepEqual(holders, [0]);
    }
  });
});
