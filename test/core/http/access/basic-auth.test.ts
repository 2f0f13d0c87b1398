import assert from "node:assert/strict";
import { randomBytes, scryptSync } from "node:crypto";
import { describe, test } from "node:test";
import { formatScryptHash, parseScryptHash } from "../../../../src/core/config/values/scrypt-hash.ts";
import { BasicAuth } from "../../../../src/core/http/access/basic-auth.ts";
import { PasswordQueue, type PasswordVerdict } from "../../../../src/core/http/access/password-queue.ts";

/** The cheapest hash that is allowed. */
function cheapHash(password: string): string {
  const salt = randomBytes(16);
  return formatScryptHash({
    costLog2: 12,
    blockSize: 8,
    parallel: 1,
    salt,
    hash: scryptSync(password, salt, 32, { N: 2 ** 12 }),
  });
}

const users = [{ user: "ann", scrypt: cheapHash("right") }];
const stays = (address: string): { readonly address: string; readonly hasLeft: () => boolean } => ({
  address,
  hasLeft: () => false,
});

describe("passwords", () => {
  test("are checked in one queue for all listeners; above its limit the result is busy", async () => {
    const listeners = [new BasicAuth(users), new BasicAuth(users)];
    const verdicts = listeners.flatMap((passwords, listener) =>
      Array.from({ length: 20 }, (_, at) => passwords.check("ann", `guess ${at}`, stays(`10.0.${listener}.${at}`))),
    );
    assert.equal(verdicts.filter((verdict) => verdict === "busy").length, 40 - 17);
    const known = await Promise.all(verdicts.map(async (verdict) => verdict));
    assert.equal(known.filter((verdict) => verdict === "wrong").length, 17);
  });

  test("share one check if they are equal", async () => {
    const passwords = new BasicAuth(users, new PasswordQueue());
    const all = Array.from({ length: 100 }, () => passwords.check("ann", "right", stays("10.0.0.1")));
    assert.deepEqual(new Set(await Promise.all(all.map(async (verdict) => verdict))), new Set(["right"]));
    assert.equal(passwords.check("ann", "right", stays("10.0.0.2")), "right", "and are remembered");
    assert.equal(await passwords.check("eve", "right", stays("10.0.0.2")), "wrong");
  });
});

describe("the password queue", () => {
  test("runs one check at a time, reserves room for other addresses, and skips clients that have left", async () => {
    const queue = new PasswordQueue();
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const left = new Set<string>();
    const add = (name: string, address: string): Promise<PasswordVerdict> | null =>
      queue.add({ address, hasLeft: () => left.has(name) }, () => {
        begun.push(name);
        return new Promise((resolve) => ends.push(() => resolve("wrong")));
      });
    const first = add("a0", "a");
    const waiting = ["a1", "a2", "a3", "a4"].map((name) => add(name, "a"));
    assert.equal(add("a5", "a"), null, "four of one address may wait");
    const other = add("b0", "b");
    assert.deepEqual(begun, ["a0"]);
    left.add("a1").add("a3");
    ends.shift()?.();
    assert.equal(await first, "wrong");
    assert.equal(await waiting[0], "busy");
    assert.equal(await waiting[2], "busy");
    assert.deepEqual(begun, ["a0", "a2"]);
    for (const verdict of [waiting[1], waiting[3], other]) {
      ends.shift()?.();
      assert.equal(await verdict, "wrong");
    }
    assert.deepEqual(begun, ["a0", "a2", "a4", "b0"]);
    const next = add("c0", "c");
    ends.shift()?.();
    assert.equal(await next, "wrong");
  });

  test("continues after a check that failed", async () => {
    const queue = new PasswordQueue();
    const failing = queue.add(stays("a"), () => Promise.reject(new Error("planted")));
    const next = queue.add(stays("a"), () => Promise.resolve("right"));
    await assert.rejects(failing ?? Promise.resolve());
    assert.equal(await next, "right");
  });
});

describe("the cost of a hash", () => {
  const salt = "c29tZXNhbHRzb21lc2FsdA";
  const hash = "RGlnZXN0IG9mIG5vIHBhc3N3b3JkIGF0IGFsbCEhISE";
  for (const [costs, isAllowed] of [
    ["12$8$1", true],
    ["15$8$4", true],
    ["16$8$2", true],
    ["17$8$1", true],
    ["17$8$2", false],
    ["16$8$4", false],
    ["18$8$1", false],
    ["11$8$1", false],
    ["15$16$1", false],
    ["15$8$5", false],
    ["15$8$0", false],
    ["999999999$8$1", false],
  ] as const) {
    test(`${costs} is ${isAllowed ? "allowed" : "refused"}`, () => {
      assert.equal(parseScryptHash(`scrypt$${costs}$${salt}$${hash}`) !== undefined, isAllowed);
    });
  }
});
