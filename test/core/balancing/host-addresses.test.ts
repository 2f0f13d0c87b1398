import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { test } from "node:test";
import { HostAddresses } from "../../../src/core/balancing/host-addresses.ts";

test("a name is resolved again after 5 s; its address stays while the name has it, and while there is no answer", async () => {
  let nowMs = 0;
  let asked = 0;
  let answer: readonly string[] | null = ["10.0.0.1", "10.0.0.2"];
  const hosts = new HostAddresses(
    () => nowMs,
    async () => {
      asked += 1;
      if (answer === null) throw new Error("ENOTFOUND");
      return answer;
    },
  );
  const at = async (ms: number): Promise<string | null | undefined> => {
    nowMs = ms;
    hosts.of("pg1.internal");
    await setImmediate();
    return hosts.of("pg1.internal");
  };
  assert.equal(hosts.of("pg1.internal"), undefined, "before the answer");
  assert.equal(await at(0), "10.0.0.1");
  assert.equal(await at(4_999), "10.0.0.1");
  assert.equal(asked, 1);
  answer = ["10.0.0.2", "10.0.0.1"];
  assert.equal(await at(5_000), "10.0.0.1", "it is still one of them");
  answer = null;
  assert.equal(await at(10_000), "10.0.0.1", "no answer");
  answer = ["10.0.0.2"];
  assert.equal(await at(15_000), "10.0.0.2");
  assert.equal(asked, 4);
  assert.equal(hosts.of("fd00::1"), "fd00::1");
  assert.equal(asked, 4, "an address is not resolved");
});

test("a name that was never resolved has no address", async () => {
  const hosts = new HostAddresses(
    () => 0,
    async () => Promise.reject(new Error("ENOTFOUND")),
  );
  hosts.of("nowhere.internal");
  await setImmediate();
  assert.equal(hosts.of("nowhere.internal"), null);
});
