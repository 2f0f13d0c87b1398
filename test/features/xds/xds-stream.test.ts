import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PublishedPool } from "../../../src/features/xds/pool-assignments.ts";
import { endpointsType, type XdsForm, type XdsResponse } from "../../../src/features/xds/protocol/xds-messages.ts";
import { type StreamSources, XdsStream } from "../../../src/features/xds/xds-stream.ts";
import { conversations, requestOf } from "./conversation.ts";
import { publishedPool } from "./published-pool.ts";
import { SharedNames } from "../../../src/features/xds/protocol/shared-names.ts";

/** Pools that a test sets, and a client that reads as fast as it says. */
class Served {
  readonly pools = new Map<string, PublishedPool>();
  readonly sent: XdsResponse[] = [];
  readonly stream: XdsStream;
  readsOn = true;
  mayGo = true;

  constructor(form: XdsForm, versions: Readonly<Record<string, string | null>>) {
    this.set(versions);
    const sources: StreamSources = {
      has: (name) => this.pools.has(name),
      names: new SharedNames(),
      of: (name) => this.pools.get(name),
      published: () => this.pools.values(),
      versions: () => new Map([...this.pools].map(([name, { version }]) => [name, version])),
      encoded: (pool, zone) => Buffer.from(`${pool.version} ${zone}`),
      mayGo: () => this.mayGo,
    };
    const send = (response: XdsResponse): boolean => this.sent.push(response) > 0 && this.readsOn;
    this.stream = new XdsStream({ form, peer: "10.0.0.1:1", send }, sources);
  }

  /** Publishes these versions. @returns those that have changed */
  set(versions: Readonly<Record<string, string | null>>): readonly PublishedPool[] {
    return Object.entries(versions).flatMap(([name, version]) => {
      this.pools.delete(name);
      if (version === null) return [];
      const pool = publishedPool({ name, version });
      this.pools.set(name, pool);
      return [pool];
    });
  }

  /** What was sent since the last call, by name. */
  take(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.sent.splice(0).flatMap(({ resources }) => resources.map(({ name, version }) => [name, version])),
    );
  }
}

describe("XdsStream", () => {
  for (const { title, form, pools, steps } of conversations)
    it(`${form}: ${title}`, () => {
      const served = new Served(form, pools);
      for (const [at, { request, change, answer = {}, refused }] of steps.entries()) {
        if (change !== undefined) served.stream.update(served.set(change), at);
        if (request !== undefined) {
          const refusal = served.stream.receive(requestOf(request, form), at);
          assert.deepEqual(refusal, refused === undefined ? null : { problem: refused, atMs: at });
        }
        assert.deepEqual(served.take(), answer, `step ${at + 1}`);
      }
    });

  it("sends what changes together in one response, under one nonce", () => {
    const served = new Served("sotw", { write: "w1", read: "r1" });
    served.stream.receive(requestOf({ node: "e1", names: ["write", "read"] }, "sotw"), 0);
    assert.deepEqual(
      served.sent.map(({ nonce, type, resources }) => [nonce, type, resources.length]),
      [["1", endpointsType, 2]],
    );
  });

  it("sends the newest state when it is its turn, and not before", () => {
    const served = new Served("delta", { write: "w1", read: "r1" });
    served.mayGo = false;
    served.stream.receive(requestOf({ node: "e1", subscribe: ["write", "read"] }, "delta"), 0);
    served.stream.update(served.set({ write: "w2" }), 1);
    assert.deepEqual(served.take(), {});
    served.mayGo = true;
    served.stream.go(2);
    assert.deepEqual(served.take(), { write: "w2", read: "r1" });
    served.stream.go(3);
    assert.deepEqual(served.take(), {});
  });

  it("does not send at its turn while a client does not read", () => {
    const served = new Served("delta", { write: "w1" });
    served.readsOn = false;
    served.stream.receive(requestOf({ node: "e1", subscribe: ["write"] }, "delta"), 0);
    served.take();
    served.set({ write: "w2" });
    served.stream.go(1);
    assert.deepEqual(served.take(), {});
  });

  it("lets the newest state wait while a client does not read, and nothing else", () => {
    const served = new Served("delta", { write: "w1", read: "r1" });
    served.readsOn = false;
    served.stream.receive(requestOf({ node: "e1", subscribe: ["write", "read"] }, "delta"), 0);
    assert.deepEqual(served.take(), { write: "w1", read: "r1" });
    for (const version of ["w2", "w3", "w4"]) served.stream.update(served.set({ write: version }), 1);
    assert.deepEqual(served.take(), {});
    served.readsOn = true;
    served.stream.drained(2);
    assert.deepEqual(served.take(), { write: "w4" });
  });

  it("knows what its client has", () => {
    const served = new Served("sotw", { write: "w1" });
    const { stream } = served;
    const state = (): string => stream.pools.map((pool) => stream.stateOf(pool)).join(" ");
    assert.equal(state(), "");
    stream.receive(requestOf({ node: "e1", names: ["write"] }, "sotw"), 0);
    assert.equal(state(), "waits");
    stream.receive(requestOf({ names: ["write"], nonce: "1" }, "sotw"), 0);
    assert.equal(state(), "has");
    stream.update(served.set({ write: "w2" }), 0);
    assert.equal(state(), "waits");
    stream.receive(requestOf({ names: ["write"], nonce: "2", refuses: "no" }, "sotw"), 5);
    assert.equal(state(), "refused");
    assert.deepEqual(stream.refusal, { problem: "no", atMs: 5 });
    stream.update(served.set({ write: "w3" }), 0);
    stream.receive(requestOf({ names: ["write"], nonce: "3" }, "sotw"), 6);
    assert.deepEqual([state(), stream.refusal], ["has", null]);
  });

  it("keeps a bounded number of unknown names, and knows that it has forgotten some", () => {
    const served = new Served("delta", {});
    const names = Array.from({ length: 10_000 }, (_, at) => `p${at}`);
    served.stream.receive(requestOf({ node: "e1", subscribe: names.slice(0, 100) }, "delta"), 0);
    assert.deepEqual([served.stream.unknownNames.length, served.stream.hasForgotten], [100, false]);
    served.stream.receive(requestOf({ subscribe: names }, "delta"), 0);
    assert.deepEqual([served.stream.unknownNames.length, served.stream.hasForgotten], [100, true]);
    served.stream.update(served.set({ p5: "v1", p500: "v1" }), 0);
    assert.deepEqual(served.take(), { p5: "v1" });
    assert.equal(served.stream.unknownNames.length, 99);
  });

  it("names its client by its node id, else by its address, and in a bounded form", () => {
    const served = new Served("sotw", {});
    assert.equal(served.stream.name, "10.0.0.1:1");
    served.stream.receive(requestOf({ node: "e".repeat(1_000), zone: "a", names: ["x"] }, "sotw"), 0);
    served.stream.receive(requestOf({ node: "another", names: ["x"] }, "sotw"), 0);
    assert.equal(served.stream.name, "e".repeat(128));
    assert.equal(served.stream.client?.zone, "a");
  });
});
