import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Claim } from "../../../../src/features/switchover/claims/claim.ts";
import type { RunClaims } from "../../../../src/core/feature/shared-evidence.ts";
import { fleetGrantor } from "../../../../src/features/switchover/claims/fleet-grantor.ts";
import { FleetKeys } from "../../../fake/fleet-keys.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";
import { until } from "../../../fake/until.ts";

const claimOf = (run: string, generation = 1): Claim => ({
  run,
  cluster: "orders",
  generation,
  by: `host of ${run}`,
  instance: run,
  databases: [{ pooler: "pgb1", database: "orders" }],
});

const noHolds: Pick<RunClaims, "claimHold" | "releaseHold"> = {
  claimHold: () => Promise.reject(new Error("not asked")),
  releaseHold: () => Promise.resolve(),
};

/** Members of one fleet, and its keys. */
function fleetOf(): { readonly clock: ManualClock; readonly member: () => RunClaims; readonly keys: FleetKeys } {
  const clock = new ManualClock();
  const keys = new FleetKeys(clock, 5_000);
  const member = (): RunClaims => {
    const store = keys.store();
    return {
      claimRun: (cluster, value, lifeS) => store.claimFor(`runs/${cluster}`, value, lifeS),
      releaseRun: async (cluster, value) => void (await store.release(`runs/${cluster}`, value)),
      ...noHolds,
    };
  };
  return { clock, member, keys };
}

describe("the store of a fleet", () => {
  test("grants a cluster to one member, with a number that grows, until that gives it back", async () => {
    const { member, keys } = fleetOf();
    const [one, two] = [fleetGrantor(member(), false), fleetGrantor(member(), false)];
    keys.grant(); // something else was written before
    const first = await one.ask(claimOf("a"));
    assert.deepEqual(first, { kind: "denied", why: "", generation: 2, isBehind: true });
    assert.equal((await one.ask(claimOf("a", 3))).kind, "granted");
    const other = await two.ask(claimOf("b", 3));
    assert.deepEqual(other.kind === "denied" ? [other.why, other.isBehind] : other, [
      "a switchover of orders of host of a goes on",
      false,
    ]);
    one.release("a");
    await until("the end of the claim", async () => (await two.ask(claimOf("b", 100))).kind === "granted");
    one.release("a");
    assert.equal(
      (await two.ask(claimOf("b", 100))).kind,
      "granted",
      "what is given back twice takes nothing from others",
    );
  });

  test("frees the cluster of a member that is gone after two minutes", async () => {
    const { member, clock } = fleetOf();
    const [one, two] = [fleetGrantor(member(), false), fleetGrantor(member(), false)];
    assert.equal((await one.ask(claimOf("a", 100))).kind, "granted");
    await clock.pass(119_000);
    assert.equal((await two.ask(claimOf("b", 100))).kind, "denied");
    await clock.pass(1_200);
    assert.equal((await two.ask(claimOf("b", 100))).kind, "granted");
  });

  test("that cannot be reached says nothing", async () => {
    const store: RunClaims = {
      claimRun: () => Promise.reject(new Error("apart")),
      releaseRun: () => Promise.resolve(),
      ...noHolds,
    };
    const grantor = fleetGrantor(store, true);
    assert.deepEqual(await grantor.ask(claimOf("a")), { kind: "silent", why: "apart" });
    assert.ok(grantor.isOptional);
  });
});
