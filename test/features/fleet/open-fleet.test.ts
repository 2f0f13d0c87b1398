/** What a fleet gives the core and other features: who probes what, drains and claims, over joining, reloading and leaving. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Config } from "../../../src/core/config/model/config.ts";
import { clusterSharings, evidenceBringers, runClaims, sharedDrains } from "../../../src/core/feature/offers.ts";
import { Scope } from "../../../src/core/feature/scope.ts";
import type { DrainElsewhere, EvidenceBringer } from "../../../src/core/feature/shared-evidence.ts";
import type { FleetConfig } from "../../../src/features/fleet/config/fleet-schema.ts";
import { fleetPlaces, openFleet, type RunningFleet } from "../../../src/features/fleet/open-fleet.ts";
import { clusterOf, configOf } from "../../fake/config.ts";
import { FleetKeys } from "../../fake/fleet-keys.ts";
import { leaseMs } from "../../fake/fleet-fixture.ts";
import { ManualClock } from "../../fake/manual-clock.ts";
import { silentLogger } from "../../fake/silent-logger.ts";

function fleetOf(advertise: string, changed: Partial<FleetConfig> = {}): FleetConfig {
  return {
    name: "edges",
    advertise,
    etcd: { urls: ["http://127.0.0.1:2379"], prefix: "/rolecall", tls: null, auth: null },
    zone: null,
    observers: 1,
    weight: 1,
    leaseMs,
    tokenFile: null,
    tls: null,
    ...changed,
  };
}

const names = ["c0", "c1", "c2", "c3"];
const clusters = names.map((name) => clusterOf({ name }));

interface Member {
  readonly fleet: RunningFleet;
  readonly scope: Scope;
  readonly offers: { readonly process: string };
  readonly opened: () => number;
  divided: number;
}

/** A member over the keys of its fleet. @param isSilent whether its etcd never answers */
function memberOf(keys: FleetKeys, clock: ManualClock, process: string, isSilent = false): Member {
  const offers = { process };
  const setTimer = (run: () => void, ms: number): (() => void) => clock.setTimer(run, ms);
  const scope = new Scope({ setTimer, onProblem: (what, problem) => assert.fail(`${what}: ${problem}`) });
  let opened = 0;
  fleetPlaces.bring(offers, {
    open: () => {
      opened += 1;
      const store = keys.store();
      store.isCut = isSilent;
      return store;
    },
  });
  const probes = {
    begin: () => Promise.resolve(),
    end: () => {},
    isActive: () => false,
    ask: () => Promise.resolve(null),
    divide: () => void (member.divided += 1),
  };
  const host = { log: silentLogger, now: () => clock.nowMs, random: () => 0, probes, offers };
  const member: Member = { fleet: openFleet(host, scope), scope, offers, opened: () => opened, divided: 0 };
  return member;
}

/** Configures a member, and lets time pass until it has taken that. @returns after how many ms that was */
async function configured({ fleet }: Member, clock: ManualClock, config: Config): Promise<number> {
  const startMs = clock.nowMs;
  let doneMs = NaN;
  void Promise.resolve(fleet.configure(config)).then(() => (doneMs = clock.nowMs));
  for (let step = 0; step < 100 && Number.isNaN(doneMs); step += 1) await clock.pass(50);
  return doneMs - startMs;
}

function pairOf(): {
  readonly clock: ManualClock;
  readonly keys: FleetKeys;
  readonly one: Member;
  readonly two: Member;
} {
  const clock = new ManualClock();
  const keys = new FleetKeys(clock, leaseMs);
  return { clock, keys, one: memberOf(keys, clock, "one"), two: memberOf(keys, clock, "two") };
}

const configAt = (url: string, changed: Partial<FleetConfig> = {}): Config =>
  configOf({ clusters, fleet: fleetOf(url, changed) });

describe("a fleet in a process", () => {
  test("says who probes what, and where drains are ordered", async () => {
    const { clock, one, two } = pairOf();
    await configured(one, clock, configAt("http://one:9108"));
    await configured(two, clock, configAt("http://two:9108"));
    await clock.pass(20_000);
    const [sharing] = clusterSharings.in(one.offers);
    const [drains] = sharedDrains.in(one.offers);
    const owners = names.map((name) => sharing?.ownersOf(name).map(({ url }) => url));
    assert.ok(owners.some((urls) => urls?.join() === "http://two:9108") && owners.some((urls) => urls?.length === 0));
    assert.deepEqual(
      names.map((name) => drains?.probedBy(name)),
      owners.map((urls) => (urls?.length === 0 ? "this" : "others")),
    );
    assert.ok(one.divided > 0);
    assert.deepEqual(sharing?.otherOwners, new Map());
    assert.equal(sharing?.ownersOf("unknown").length, 0);
  });

  test("shares a cluster between two owners, of which each is told of drains", async () => {
    const { clock, one, two } = pairOf();
    await configured(one, clock, configAt("http://one:9108", { observers: 2 }));
    await configured(two, clock, configAt("http://two:9108", { observers: 2 }));
    await clock.pass(20_000);
    const [sharing, drains] = [clusterSharings.in(one.offers)[0], sharedDrains.in(one.offers)[0]];
    assert.deepEqual(new Set(sharing?.otherOwners.keys()), new Set(names));
    for (const owners of sharing?.otherOwners.values() ?? [])
      assert.deepEqual(
        owners.map(({ url }) => url),
        ["http://two:9108"],
      );
    assert.equal(drains?.probedBy("c0"), "both");
    const order: DrainElsewhere = { cluster: "c0", node: "pg1", by: "ann", drain: null };
    assert.deepEqual(await drains?.order(order), { kind: "refused", problem: "nothing is followed" });
    const ordered: DrainElsewhere[] = [];
    const bringer: Pick<EvidenceBringer, "drain"> = {
      drain: (given) => {
        ordered.push(given);
        return Promise.resolve({ kind: "durable" });
      },
    };
    evidenceBringers.bring(one.offers, bringer as EvidenceBringer);
    assert.deepEqual([await drains?.order(order), ordered], [{ kind: "durable" }, [order]]);
  });

  test("does not share a cluster that has upstreams of its own", async () => {
    const { clock, one } = pairOf();
    const follow = [{ url: "http://core:9108", tokenFile: null, tls: null }];
    const shared = clusters.map((cluster) => (cluster.name === "c0" ? { ...cluster, follow } : cluster));
    await configured(one, clock, { ...configAt("http://one:9108"), clusters: shared });
    await clock.pass(20_000);
    const document = JSON.parse([...(one.fleet.pieces(null) ?? [])].join(""));
    assert.deepEqual(
      document.fleet.clusters.map(({ cluster }: { readonly cluster: string }) => cluster),
      names.slice(1),
    );
  });

  test("lets the start wait until it knows the members, and no longer than 1.5 s", async () => {
    const { clock, keys, one } = pairOf();
    assert.ok((await configured(one, clock, configAt("http://one:9108"))) <= 100);
    const silent = memberOf(keys, clock, "silent", true);
    const waitedMs = await configured(silent, clock, configAt("http://silent:9108"));
    assert.ok(waitedMs >= 1_500 && waitedMs <= 1_600, `${waitedMs} ms`);
  });

  test("goes on through a reload that does not change it, and leaves it first for another one", async () => {
    const { clock, keys, one } = pairOf();
    await configured(one, clock, configAt("http://one:9108"));
    await configured(one, clock, { ...configAt("http://one:9108"), clusters: clusters.slice(1) });
    assert.equal(one.opened(), 1);
    const before = one.fleet.membership;
    await configured(one, clock, configAt("http://one:9108", { weight: 2 }));
    assert.equal(one.opened(), 2);
    assert.deepEqual([before?.phase.kind, one.fleet.membership?.phase.kind], ["stopped", "joined"]);
    assert.equal([...keys.keys.keys()].filter((key) => key.startsWith("members/")).length, 1);
  });

  test("grants runs while it is joined; after its end nothing is offered, set or kept in etcd", async () => {
    const { clock, keys, one } = pairOf();
    assert.deepEqual([one.fleet.usage, one.fleet.summary(), one.fleet.pieces(null)], [null, null, null]);
    assert.deepEqual(runClaims.in(one.offers), []);
    await configured(one, clock, configAt("http://one:9108"));
    await clock.pass(20_000);
    assert.deepEqual(one.fleet.usage, {
      isJoined: true,
      members: 1,
      owned: 4,
      changes: { gained: 4, lost: 0 },
      unshared: 0,
      disagreements: 0,
    });
    assert.equal((await runClaims.in(one.offers)[0]?.claimRun("c0", "run", 60))?.value, "run");
    await one.scope.end();
    for (const offer of [runClaims, clusterSharings, sharedDrains]) assert.deepEqual(offer.in(one.offers), []);
    assert.deepEqual(
      [...keys.keys.keys()].filter((key) => !key.startsWith("runs/")),
      [],
    );
    assert.equal(one.scope.holds.length, 0);
  });

  test("lets who waits go on if it ends while it joins", async () => {
    const { clock, keys } = pairOf();
    const silent = memberOf(keys, clock, "silent", true);
    const taken = silent.fleet.configure(configAt("http://silent:9108"));
    await new Promise(setImmediate);
    await silent.scope.end();
    await taken;
    await silent.fleet.configure(configAt("http://other:9108"));
    assert.equal(silent.opened(), 1, "nothing is joined after the end");
  });
});
