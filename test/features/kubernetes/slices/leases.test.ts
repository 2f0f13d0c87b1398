import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../../src/core/cluster/values/json.ts";
import { leaseName, leaseObject, SeenLeases } from "../../../../src/features/kubernetes/slices/leases.ts";

/** Renewals of Leases as a watch brings them, and what follows from them for `other`. */
class Watched {
  readonly seen: SeenLeases = new SeenLeases("me", () => 2_000);
  readonly #objects = new Map<string, JsonObject>();
  #wallMs = 0;

  renew(instance: string, isHeld = true): this {
    this.#wallMs += 1;
    const lease = leaseObject({ namespace: "databases", instance }, { isHeld, renewMs: 2_000, wallMs: this.#wallMs });
    this.#objects.set(leaseName(instance), lease as JsonObject);
    this.seen.take(this.#objects);
    return this;
  }

  delete(instance: string): this {
    this.#objects.delete(leaseName(instance));
    this.seen.take(this.#objects);
    return this;
  }
}

describe("which rolecalls live", () => {
  test("a Lease is of six seconds, and its end has no holder", () => {
    const at = { namespace: "databases", instance: "a" };
    assert.deepEqual(leaseObject(at, { isHeld: true, renewMs: 2_000, wallMs: 1_500 }), {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "rolecall-a", namespace: "databases", labels: { "app.kubernetes.io/managed-by": "rolecall" } },
      spec: { holderIdentity: "a", leaseDurationSeconds: 6, renewTime: "1970-01-01T00:00:01.500000Z" },
    });
    const ended = leaseObject(at, { isHeld: false, renewMs: 2_000, wallMs: 0 }) as { readonly spec: object };
    assert.deepEqual(Object.keys(ended.spec), ["leaseDurationSeconds", "renewTime"]);
  });

  test("who renews lives; who misses more than three renewals of mine is dead, until it renews", () => {
    const watched = new Watched();
    watched.renew("other").renew("me").renew("me").renew("me");
    assert.equal(watched.seen.lives("other"), true);
    watched.renew("me");
    assert.equal(watched.seen.lives("other"), false);
    watched.renew("other");
    assert.equal(watched.seen.lives("other"), true);
  });

  test("while my own renewals are not seen, nobody dies: it may be that nothing is seen at all", () => {
    const watched = new Watched();
    watched.renew("me").renew("other");
    for (let count = 0; count < 10; count += 1) watched.renew("third");
    assert.equal(watched.seen.lives("other"), true);
    assert.equal(new SeenLeases("me", () => 2_000).lives("other"), true);
  });

  test("who has ended its Lease is dead at once", () => {
    const watched = new Watched();
    watched.renew("me").renew("other");
    watched.renew("other", false);
    assert.equal(watched.seen.lives("other"), false);
  });

  test("who has no Lease is missed for as long: it may be about to create it", () => {
    const watched = new Watched();
    watched.renew("me");
    assert.equal(watched.seen.lives("other"), true);
    watched.renew("me").renew("me").renew("me");
    assert.equal(watched.seen.lives("other"), true);
    watched.renew("me");
    assert.equal(watched.seen.lives("other"), false);
    watched.renew("other");
    assert.equal(watched.seen.lives("other"), true);
    watched.delete("other");
    assert.equal(watched.seen.lives("other"), true);
  });

  test("I live", () => {
    assert.equal(new Watched().renew("me", false).seen.lives("me"), true);
  });
});
