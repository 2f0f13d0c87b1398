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
    const lease = leaseObject(
      { namespace: "databases", instance, pod: null },
      { isHeld, renewMs: 2_000, wallMs: this.#wallMs },
    );
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
    const at = { namespace: "databases", instance: "a", pod: null };
    assert.deepEqual(leaseObject(at, { isHeld: true, renewMs: 2_000, wallMs: 1_500 }), {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: "rolecall-a", namespace: "databases", labels: { "app.kubernetes.io/managed-by": "rolecall" } },
      spec: { holderIdentity: "a", leaseDurationSeconds: 6, renewTime: "1970-01-01T00:00:01.500000Z" },
    });
    const ended = leaseObject(at, { isHeld: false, renewMs: 2_000, wallMs: 0 }) as { readonly spec: object };
    assert.deepEqual(Object.keys(ended.spec), ["leaseDurationSeconds", "renewTime"]);
  });

  test("a Lease goes with the pod of its rolecall", () => {
    const pod = { name: "a", uid: "p1" };
    const { metadata } = leaseObject(
      { namespace: "databases", instance: "a", pod },
      { isHeld: true, renewMs: 2_000, wallMs: 0 },
    ) as { readonly metadata: { readonly ownerReferences: unknown } };
    assert.deepEqual(metadata.ownerReferences, [{ apiVersion: "v1", kind: "Pod", name: "a", uid: "p1" }]);
  });

  test("who has ended its Lease is dead when it is deleted, too; who is alive is missed for three renewals first", () => {
    const ended = new Watched().renew("me").renew("other").renew("other", false).delete("other");
    assert.equal(ended.seen.lives("other"), false);
    assert.equal(ended.renew("other").seen.lives("other"), true);
    const alive = new Watched().renew("me").renew("other").delete("other");
    assert.equal(alive.seen.lives("other"), true);
    for (let at = 0; at < 3; at += 1) alive.renew("me");
    assert.equal(alive.seen.lives("other"), true);
    assert.equal(alive.renew("me").seen.lives("other"), false);
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
