import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  array,
  assert as assertProperty,
  boolean,
  constantFrom,
  option,
  property,
  record,
  uniqueArray,
} from "fast-check";
import {
  serviceContent,
  type ServiceContent,
  type ServiceMember,
  type ServiceRules,
} from "../../../../src/features/kubernetes/core/service-content.ts";

const rules = {
  isOfPrimary: true,
  portName: "",
  published: new Map<string, { isReady: boolean; isServing: boolean }>(),
};

function member(node: string, parts: Partial<ServiceMember> = {}): ServiceMember {
  return {
    node,
    address: { ip: `10.0.0.${node.slice(2)}`, port: 5432 },
    isFit: false,
    isServing: false,
    isSilent: false,
    isUnreached: false,
    why: null,
    zone: null,
    pod: null,
    ...parts,
  };
}

/** What is published of addresses. */
function publishedAs(said: Readonly<Record<string, "ready" | "serving">>): ServiceRules["published"] {
  return new Map(Object.entries(said).map(([address, as]) => [address, { isReady: as === "ready", isServing: true }]));
}

/** The endpoints of all slices, as `10.0.0.1 ready`, `serving` or `out`. */
function saidOf({ slices }: ServiceContent): readonly string[] {
  return slices.flatMap(({ endpoints }) =>
    endpoints.map(({ ip, isReady, isServing }) => `${ip} ${isReady ? "ready" : isServing ? "serving" : "out"}`),
  );
}

describe("what the slices of a Service say", () => {
  test("all members with an address are listed, and the fit one is ready", () => {
    const content = serviceContent(
      [member("pg1", { isFit: true }), member("pg2", { isServing: true }), member("pg3", { address: null })],
      rules,
    );
    assert.deepEqual(saidOf(content), ["10.0.0.1 ready", "10.0.0.2 serving"]);
    assert.equal(content.unready, null);
  });

  test("two that are fit for writes are none", () => {
    const both = [member("pg1", { isFit: true }), member("pg2", { isFit: true })];
    const content = serviceContent(both, rules);
    assert.deepEqual(saidOf(content), ["10.0.0.1 out", "10.0.0.2 out"]);
    assert.equal(content.unready, "refused");
    assert.deepEqual(saidOf(serviceContent(both, { ...rules, isOfPrimary: false })), [
      "10.0.0.1 ready",
      "10.0.0.2 ready",
    ]);
  });

  test("a member of which nothing is known stays as it was published", () => {
    const members = ["pg1", "pg2", "pg3"].map((node) => member(node, { isSilent: true }));
    const content = serviceContent(members, {
      ...rules,
      published: publishedAs({ "10.0.0.2 5432": "ready", "10.0.0.3 5432": "serving" }),
    });
    assert.deepEqual(saidOf(content), ["10.0.0.1 out", "10.0.0.2 ready", "10.0.0.3 serving"]);
  });

  test("says why nobody is ready", () => {
    assert.equal(serviceContent([member("pg1"), member("pg2", { isUnreached: true })], rules).unready, "unreached");
    assert.equal(serviceContent([member("pg1"), member("pg2")], rules).unready, "refused");
    assert.equal(serviceContent([], rules).unready, "refused");
  });

  test("address families and ports have slices of their own, in an order that does not change", () => {
    const v6 = member("pg2", { address: { ip: "fd00::2", port: 5432 } });
    const other = member("pg3", { address: { ip: "10.0.0.3", port: 5433 } });
    const content = serviceContent([other, v6, member("pg1")], rules);
    assert.deepEqual(
      content.slices.map(({ family, port, endpoints }) => [family, port, endpoints.map(({ ip }) => ip)]),
      [
        ["IPv4", 5432, ["10.0.0.1"]],
        ["IPv4", 5433, ["10.0.0.3"]],
        ["IPv6", 5432, ["fd00::2"]],
      ],
    );
    assert.deepEqual(serviceContent([v6, member("pg1"), other], rules), content);
  });

  test("two nodes at one address are one endpoint, ready if one of them is", () => {
    const same = { address: { ip: "10.0.0.1", port: 5432 } };
    assert.deepEqual(saidOf(serviceContent([member("pg1"), member("pg2", { ...same, isFit: true })], rules)), [
      "10.0.0.1 ready",
    ]);
  });

  test("a Service of the primary never has two ready addresses, and no address is listed twice", () => {
    const members = array(
      record({
        node: constantFrom("pg1", "pg2", "pg3", "pg4"),
        address: option(
          record({ ip: constantFrom("10.0.0.1", "10.0.0.2", "fd00::1"), port: constantFrom(5432, 5433) }),
        ),
        isFit: boolean(),
        isServing: boolean(),
        isSilent: boolean(),
        isUnreached: boolean(),
      }),
      { maxLength: 6 },
    );
    const readyNow = uniqueArray(constantFrom("10.0.0.1 5432", "10.0.0.2 5433", "fd00::1 5432"));
    assertProperty(
      property(members, readyNow, (some, ready) => {
        const all = some.map((parts) => member(parts.node, parts));
        const content = serviceContent(all, {
          ...rules,
          published: publishedAs(Object.fromEntries(ready.map((address) => [address, "ready"]))),
        });
        const said = saidOf(content);
        const readyCount = said.filter((text) => text.endsWith(" ready")).length;
        assert.ok(readyCount <= 1);
        assert.equal(content.unready === null, readyCount === 1);
        const listed = content.slices.flatMap(({ port, endpoints }) => endpoints.map(({ ip }) => `${ip} ${port}`));
        assert.equal(new Set(listed).size, listed.length);
      }),
    );
  });
});
