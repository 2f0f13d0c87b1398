import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { SetTimer } from "../../../src/core/cluster/timer.ts";
import { HostAddresses } from "../../../src/core/balancing/host-addresses.ts";
import { EndpointAddresses } from "../../../src/core/balancing/endpoint-addresses.ts";
import { ManualClock } from "../../fake/manual-clock.ts";

/** A name server that a test sets, and what the addresses tell. */
function resolving(answers: Record<string, readonly string[] | null>): {
  readonly clock: ManualClock;
  readonly addresses: EndpointAddresses;
  readonly answers: Record<string, readonly string[] | null>;
  readonly counts: { lookups: number; changes: number };
} {
  const clock = new ManualClock();
  const counts = { lookups: 0, changes: 0 };
  const onChange = (): void => void (counts.changes += 1);
  const lookUp = async (host: string): Promise<readonly string[]> => {
    counts.lookups += 1;
    return answers[host] ?? Promise.reject(new Error("ENOTFOUND"));
  };
  const hosts = new HostAddresses(() => clock.nowMs, lookUp, onChange);
  const setTimer: SetTimer = (run, delayMs) => clock.setTimer(run, delayMs);
  const addresses = new EndpointAddresses({ hosts, setTimer, onChange });
  return { clock, addresses, answers, counts };
}

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const nothing = { ip: null, isElsewhere: false };

describe("EndpointAddresses", () => {
  it("takes IP addresses as they are, and resolves nothing for them", () => {
    const { addresses, clock, counts } = resolving({});
    addresses.follow(["10.0.0.1", "2001:db8::1"]);
    assert.deepEqual(addresses.of("10.0.0.1", null), { ip: "10.0.0.1", isElsewhere: false, isPending: false });
    assert.equal(addresses.of("2001:db8::1", null).ip, "2001:db8::1");
    assert.deepEqual([counts.lookups, clock.timers], [0, 0]);
  });

  it("resolves a name at once and every 5 s, and keeps the last good answer", async () => {
    const { addresses, clock, answers, counts } = resolving({ "pg1.db": ["10.0.0.1", "2001:db8::1"] });
    addresses.follow(["pg1.db"]);
    assert.deepEqual(addresses.of("pg1.db", null), { ...nothing, isPending: true });
    await settle();
    assert.deepEqual(addresses.of("pg1.db", null), { ip: "10.0.0.1", isElsewhere: false, isPending: false });
    assert.equal(counts.changes, 1);
    for (const answer of [["2001:db8::1", "10.0.0.1"], null, []]) {
      answers["pg1.db"] = answer;
      await clock.pass(5_000);
      assert.equal(addresses.of("pg1.db", null).isPending, false);
    }
    assert.deepEqual([counts.lookups, counts.changes], [4, 1]);
    answers["pg1.db"] = ["10.0.0.9"];
    await clock.pass(5_000);
    assert.deepEqual([addresses.of("pg1.db", null).ip, counts.changes], ["10.0.0.9", 2]);
  });

  it("is pending no longer than the next try, whatever the first one does", async () => {
    const clock = new ManualClock();
    let changes = 0;
    let lookups = 0;
    const onChange = (): void => void (changes += 1);
    const lookUp = (): Promise<never> => {
      lookups += 1;
      return new Promise(() => {});
    };
    const setTimer: SetTimer = (run, delayMs) => clock.setTimer(run, delayMs);
    const hosts = new HostAddresses(() => clock.nowMs, lookUp, onChange);
    const addresses = new EndpointAddresses({ hosts, setTimer, onChange });
    addresses.follow(["pg1.db"]);
    await clock.pass(5_000);
    assert.deepEqual(addresses.of("pg1.db", null), { ...nothing, isPending: false });
    assert.deepEqual([changes, lookups], [1, 1], "a lookup that hangs is not repeated");
  });

  it("a name that cannot be resolved is no longer pending, and its endpoint has no address", async () => {
    const { addresses, counts } = resolving({});
    addresses.follow(["pg1.db"]);
    await settle();
    assert.deepEqual(addresses.of("pg1.db", null), { ...nothing, isPending: false });
    assert.equal(counts.changes, 1);
  });

  it("publishes the address at which the node was judged, where the name is that of its API", async () => {
    const { addresses, clock, answers } = resolving({ "pg1.db": ["10.0.0.1", "10.0.0.2"] });
    const probed = { host: "PG1.db", ip: "10.0.0.2", sinceMs: clock.nowMs };
    addresses.follow(["pg1.db"]);
    assert.deepEqual(addresses.of("pg1.db", probed), { ip: "10.0.0.2", isElsewhere: false, isPending: false });
    await settle();
    assert.deepEqual(addresses.of("pg1.db", probed), { ip: "10.0.0.2", isElsewhere: false, isPending: false });
    answers["pg1.db"] = ["10.0.0.9"];
    await clock.pass(5_000);
    assert.deepEqual(addresses.of("pg1.db", probed), { ip: "10.0.0.2", isElsewhere: true, isPending: false });
    const probedThere = { host: "pg1.db", ip: "10.0.0.9", sinceMs: clock.nowMs };
    assert.deepEqual(addresses.of("pg1.db", probedThere), { ip: "10.0.0.9", isElsewhere: false, isPending: false });
    // The probe is newer than what is known of the name.
    const probedLater = { host: "pg1.db", ip: "10.0.0.10", sinceMs: clock.nowMs };
    assert.deepEqual(addresses.of("pg1.db", probedLater), { ip: "10.0.0.10", isElsewhere: false, isPending: false });
    assert.equal(addresses.of("pg1.db", { host: "api.db", ip: "10.0.0.10", sinceMs: 0 }).ip, "10.0.0.9");
  });

  it("resolves names that nobody needs no longer, and its timer ends with the last one", async () => {
    const { addresses, clock, counts } = resolving({ a: ["10.0.0.1"], b: ["10.0.0.2"] });
    addresses.follow(["a", "b"]);
    await settle();
    addresses.follow(["b"]);
    await clock.pass(5_000);
    assert.equal(counts.lookups, 3);
    addresses.follow([]);
    assert.equal(clock.timers, 0);
  });
});
