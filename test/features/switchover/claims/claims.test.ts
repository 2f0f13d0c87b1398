import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { ClaimAnswer, NoAnswer } from "../../../../src/core/cluster/run-claim.ts";
import { type AskedClaim, readClaim, writtenClaim } from "../../../../src/features/switchover/claims/claim.ts";
import { Claims } from "../../../../src/features/switchover/claims/claims.ts";
import { type Grantor, OwnClaim } from "../../../../src/features/switchover/claims/own-claim.ts";
import { poolerOf } from "../../../fake/pooler-setup.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";
import { silentLogger } from "../../../fake/silent-logger.ts";
import { temporaryFolder } from "../../../fake/temporary-folder.ts";

const databases = [{ pooler: "pgb1", database: "orders" }];
const asked: AskedClaim = {
  run: "a",
  cluster: "orders",
  generation: 1,
  by: "core1",
  databases,
  instance: "i1",
  isDryRun: false,
};
const billing = poolerOf("pgb2", "10.0.0.22:6432");
const poolers = [
  poolerOf("pgb1", "10.0.0.21:6432"),
  { ...billing, databases: billing.databases.map((one) => ({ ...one, name: "billing", cluster: "billing" })) },
];
const caller = { from: "10.0.0.1", only: null };

/** The claims of a process, whose clock begins at 0. */
function processAt(
  path: string | null,
  clock = new ManualClock(),
): { readonly claims: Claims; readonly clock: ManualClock } {
  const claims = new Claims({
    log: silentLogger,
    path: () => path,
    now: () => clock.nowMs,
    open: () => [],
    poolers: () => poolers,
    isPeer: (instance) => Promise.resolve(instance === "i1"),
  });
  return { claims, clock };
}

async function saidTo(claims: Claims, parts: Partial<AskedClaim> = {}): Promise<string> {
  const answer = await claims.answer(JSON.parse(writtenClaim({ ...asked, ...parts })), caller);
  assert.ok(typeof answer === "object", typeof answer === "string" ? answer : "");
  return answer.kind === "granted" ? "yes" : answer.why;
}

describe("claims of other rolecalls", () => {
  test("are written before they are granted, and count for one more lease after a restart", async () => {
    const path = join(temporaryFolder("claims"), "state.json.claims");
    const first = processAt(path);
    assert.match(await saidTo(first.claims), /it has just started/, "before it knows what it has promised");
    await first.claims.start();
    assert.equal(await saidTo(first.claims), "yes");
    assert.match(readFileSync(path, "utf8"), /"run": "a"/);
    const second = processAt(path);
    await second.claims.start();
    second.clock.skip(14_999);
    assert.match(
      await saidTo(second.claims, { run: "b", generation: 2, instance: "i2" }),
      /\(a\) is promised to core1 \(10\.0\.0\.1\)/,
    );
    second.clock.skip(1);
    assert.equal(await saidTo(second.claims, { run: "b", generation: 2, instance: "i2" }), "yes");
    await second.claims.give("b", null);
    const third = processAt(path);
    await third.claims.start();
    assert.equal(third.claims.next("orders"), 3, "the numbers go on");
    assert.equal(await saidTo(third.claims, { run: "c", generation: 3 }), "yes");
  });

  test("are not granted where the promise cannot be written, or what was promised cannot be read", async () => {
    const folder = temporaryFolder("claims");
    const path = join(folder, "state.json.claims");
    const unwritable = processAt(join(folder, "none", "state.json.claims"));
    await unwritable.claims.start();
    assert.match(await saidTo(unwritable.claims), /the promise cannot be kept: .*ENOENT/);
    mkdirSync(path);
    const unreadable = processAt(path);
    await unreadable.claims.start();
    assert.match(await saidTo(unreadable.claims), /it has just started, and does not know what it has promised before/);
    const damaged = processAt(join(folder, "damaged"));
    writeFileSync(join(folder, "damaged"), "{");
    await damaged.claims.start();
    assert.match(await saidTo(damaged.claims), /its content must be a list of claims/);
    damaged.clock.skip(15_000);
    assert.equal(await saidTo(damaged.claims), "yes", "all that was promised has ended by then");
  });

  test("are only answered in a dry run, with whether the caller is asked in turn", async () => {
    const { claims } = processAt(null);
    await claims.start();
    for (const [instance, isMutual] of [
      ["i1", true],
      ["i2", false],
    ] as const) {
      const answer = await claims.answer(JSON.parse(writtenClaim({ ...asked, instance, isDryRun: true })), caller);
      assert.deepEqual(answer, { kind: "granted", leaseMs: 15_000, isMutual });
    }
    assert.equal(await saidTo(claims, { run: "b" }), "yes", "nothing was promised");
  });

  test("of a cluster that the listener does not answer for are denied", async () => {
    const { claims } = processAt(null);
    await claims.start();
    const answer = await claims.answer(JSON.parse(writtenClaim(asked)), { ...caller, only: "billing" });
    assert.ok(typeof answer === "object" && answer.kind === "denied");
  });

  test("of what is not configured here are denied, and leave nothing behind", async () => {
    const { claims } = processAt(null);
    await claims.start();
    const other = [{ pooler: "pgb1", database: "none" }];
    assert.match(await saidTo(claims, { databases: other }), /has no database none of orders/);
    assert.match(await saidTo(claims, { cluster: "foreign" }), /has no database orders of foreign/);
    assert.match(await saidTo(claims, { databases: [{ pooler: "pgb9", database: "x" }] }), /no pooler pgb9/);
    assert.equal(claims.next("foreign"), 1);
    const ofBilling = [{ pooler: "pgb2", database: "billing" }];
    assert.match(await saidTo(claims, { databases: ofBilling }), /has no database billing of orders/);
  });

  test("end by a caller who may end them, and a run of this process does not end so", async () => {
    const { claims } = processAt(null);
    await claims.start();
    assert.equal(await saidTo(claims), "yes");
    await claims.give("a", "billing");
    assert.match(await saidTo(claims, { run: "b", instance: "i2" }), /is promised to core1/);
    await claims.give("a", "orders");
    const { isDryRun: _, ...own } = { ...asked, run: "own", generation: 2 };
    assert.equal(await claims.ask(own), null);
    await claims.give("own", null);
    assert.equal(claims.isOwn("own"), true);
  });

  test("cannot use up the numbers of runs", async () => {
    const { claims } = processAt(null);
    await claims.start();
    const refused = await saidTo(claims, { generation: Number.MAX_SAFE_INTEGER });
    assert.match(refused, /the number of the run must be at most 1099511628776, got 9007199254740991/);
    assert.equal(await saidTo(claims, { generation: 2 ** 40 }), "yes");
    await claims.give("a", null);
    assert.equal(claims.next("orders"), 2 ** 40 + 1);
    assert.equal(await saidTo(claims, { run: "b", generation: 2 ** 40 + 1 }), "yes");
  });

  test("whatever is sent is read, or is no claim", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (body) => {
        readClaim(body);
        readClaim({ ...asked, databases: body, dry_run: false });
      }),
    );
    for (const parts of [
      { run: "a/b" },
      { generation: 0 },
      { databases: [] },
      { by: "x".repeat(129) },
      { password: "x" },
    ])
      assert.equal(typeof readClaim({ ...JSON.parse(writtenClaim(asked)), ...parts }), "string", JSON.stringify(parts));
  });
});

describe("a claim of this process", () => {
  const yes: ClaimAnswer = { kind: "granted", leaseMs: 15_000, isMutual: null };
  const silent: NoAnswer = { kind: "silent", why: "no answer within 2000 ms" };

  /** @param answers what each grantor says, one answer after the other; the last one stays */
  async function taken(
    answers: Readonly<Record<string, readonly (ClaimAnswer | NoAnswer)[]>>,
    { isOptional = false, isAgreed = false, path = null as string | null } = {},
  ): Promise<{
    readonly claim: OwnClaim;
    readonly refusal: string | null;
    readonly clock: ManualClock;
    readonly released: string[];
  }> {
    const { claims, clock } = processAt(path);
    await claims.start();
    const released: string[] = [];
    const grantors = Object.entries(answers).map(([name, said]): Grantor => {
      const left = [...said];
      return {
        name,
        isOptional,
        ask: () => Promise.resolve((left.length > 1 ? left.shift() : left[0]) ?? silent),
        release: () => released.push(name),
      };
    });
    const claim = new OwnClaim({
      claims,
      grantors,
      claim: { run: "a", cluster: "orders", by: "core1", instance: "i1", databases },
      isAgreed,
      now: () => clock.nowMs,
    });
    return { claim, refusal: await claim.take(), clock, released };
  }

  test("is held at once where it was agreed before, whatever others say, and as long as the run goes on", async () => {
    const no: ClaimAnswer = { kind: "denied", why: "busy", generation: 9, isBehind: false };
    const { claim, refusal, clock, released } = await taken({ core2: [silent], core3: [no] }, { isAgreed: true });
    assert.deepEqual([refusal, claim.isHeld(), claim.areEarlierOver], [null, true, false]);
    clock.skip(600_000);
    assert.ok(claim.isHeld());
    claim.release();
    assert.deepEqual(released, ["core2", "core3"]);
  });

  test("is written while the run gets ready where it was agreed before; without that it is given up", async () => {
    const path = join(temporaryFolder("claims"), "claims");
    const { claim } = await taken({}, { isAgreed: true, path });
    assert.equal(claim.isHeld(), true);
    assert.equal(await claim.written, null);
    assert.match(readFileSync(path, "utf8"), /"orders": 1/);
    const { claim: other, refusal } = await taken({}, { isAgreed: true, path: "/no/such/folder/claims" });
    assert.equal(refusal, null);
    assert.match((await other.written) ?? "", /^the claim cannot be written down: /);
    assert.equal(other.isHeld(), false);
  });

  test("is held once everybody has granted it, as long as the lease is sure", async () => {
    const { claim, refusal, clock } = await taken({ core2: [yes], core3: [yes] });
    assert.deepEqual([refusal, claim.isHeld(), claim.areEarlierOver], [null, true, true]);
    clock.skip(12_999);
    assert.ok(claim.isHeld());
    claim.heard("core2", clock.nowMs);
    clock.skip(1);
    assert.ok(!claim.isHeld(), "core3 was not heard");
    claim.heard("core3", clock.nowMs);
    assert.ok(claim.isHeld());
    clock.skip(600_000);
    assert.ok(!claim.isHeld(), "this process stood still");
  });

  test("silence is a no, except where a database stops in any case", async () => {
    assert.equal(
      (await taken({ core2: [yes], core3: [silent] })).refusal,
      "core3 does not say whether another switchover goes on there: no answer within 2000 ms",
    );
    assert.equal((await taken({ core2: [silent] }, { isOptional: true })).refusal, null);
    const denied: ClaimAnswer = { kind: "denied", why: "a run goes on", generation: 1, isBehind: false };
    assert.equal((await taken({ core2: [denied] }, { isOptional: true })).refusal, "core2: a run goes on");
  });

  test("is asked for again with a number above all that others know", async () => {
    const behind = (generation: number): ClaimAnswer => ({ kind: "denied", why: "", generation, isBehind: true });
    const { claim, refusal } = await taken({ core2: [behind(6), yes], core3: [behind(4), yes] });
    assert.deepEqual([refusal, claim.generation], [null, 7]);
    assert.equal((await taken({ core2: [behind(6)] })).refusal, "others know later runs of orders");
  });

  test("is given back to all, once", async () => {
    const { claim, released } = await taken({ core2: [yes], core3: [yes] });
    claim.release();
    claim.release();
    assert.deepEqual(released, ["core2", "core3"]);
    assert.ok(!claim.isHeld());
  });

  test("needs nobody where no peer is asked", async () => {
    const { claim, refusal } = await taken({});
    assert.deepEqual([refusal, claim.isHeld(), claim.areEarlierOver], [null, true, false]);
  });
});
