import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../../../../src/core/cluster/values/json.ts";
import type { ServiceContent, SliceContent } from "../../../../src/features/kubernetes/core/service-content.ts";
import {
  type OwnSlice,
  publishedOf,
  readSlices,
  sliceName,
  sliceObject,
  serviceOfSlice,
  writesOf,
} from "../../../../src/features/kubernetes/core/slice-objects.ts";

const service = { namespace: "databases", name: "orders", uid: "u1" };
const base = { uid: "s1", resourceVersion: "7" };
const pod = { namespace: "databases", name: "pg-0", uid: "p1", nodeName: "k1" };

/** A slice: the address that is ready, if one is. */
function slice(parts: Partial<SliceContent> = {}, ready: string | null = "10.0.0.1"): SliceContent {
  return {
    family: "IPv4",
    port: 5432,
    portName: "postgres",
    endpoints: ["10.0.0.1", "10.0.0.2"].map((ip) => ({
      ip,
      isReady: ip === ready,
      isServing: ip === ready,
      zone: "a",
      pod: null,
    })),
    ...parts,
  };
}

function own(content: SliceContent, parts: Partial<OwnSlice> = {}): OwnSlice {
  return {
    ...content,
    name: sliceName("orders", content),
    base,
    writer: "me",
    unready: null,
    isAltered: false,
    ...parts,
  };
}

/** As the API server has what was applied. */
function stored(object: object): JsonObject {
  return JSON.parse(JSON.stringify(object)) as JsonObject;
}

describe("slices as objects", () => {
  test("a slice is applied with its state, who writes it, and why nobody is ready", () => {
    const endpoints = [
      { ip: "10.0.0.1", isReady: true, isServing: true, zone: "a", pod },
      { ip: "10.0.0.2", isReady: false, isServing: true, zone: null, pod: { ...pod, nodeName: null } },
    ];
    assert.deepEqual(sliceObject(service, slice({ endpoints }), { writer: "me", unready: "refused", base }), {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name: "orders-rolecall-ipv4-5432",
        namespace: "databases",
        ...base,
        labels: {
          "kubernetes.io/service-name": "orders",
          "endpointslice.kubernetes.io/managed-by": "rolecall",
        },
        annotations: { "rolecall/writer": "me", "rolecall/unready": "refused" },
        ownerReferences: [{ apiVersion: "v1", kind: "Service", name: "orders", uid: "u1" }],
      },
      addressType: "IPv4",
      ports: [{ name: "postgres", port: 5432, protocol: "TCP" }],
      endpoints: [
        {
          addresses: ["10.0.0.1"],
          conditions: { ready: true, serving: true, terminating: false },
          zone: "a",
          nodeName: "k1",
          targetRef: { kind: "Pod", namespace: "databases", name: "pg-0", uid: "p1" },
        },
        {
          addresses: ["10.0.0.2"],
          conditions: { ready: false, serving: true, terminating: false },
          targetRef: { kind: "Pod", namespace: "databases", name: "pg-0", uid: "p1" },
        },
      ],
    });
  });

  test("what was applied is read as it was", () => {
    const endpoints = [{ ip: "fd00::1", isReady: false, isServing: true, zone: "a", pod }];
    const content = slice({ family: "IPv6", endpoints });
    const object = stored(sliceObject(service, content, { writer: null, unready: "unreached", base }));
    assert.deepEqual(readSlices([object], service), {
      own: [own(content, { writer: null, unready: "unreached" })],
      foreign: [],
    });
    assert.equal(serviceOfSlice(object), "orders");
  });

  test("slices of others are told apart by their names, and what is none is left out", () => {
    const labels = { "kubernetes.io/service-name": "orders" };
    const labelled = { ...labels, "endpointslice.kubernetes.io/managed-by": "rolecall" };
    const names = ["orders-rolecall-ipv4", "orders-rolecall-ipv5-1", "orders-rolecall-ipv4-x", "ro-rolecall-ipv4-1"];
    const { own: read, foreign } = readSlices(
      [
        { metadata: { name: "a", labels } },
        { metadata: { name: "b", labels: { ...labels, "endpointslice.kubernetes.io/managed-by": "someone" } } },
        ...names.map((name) => ({ metadata: { ...base, name, labels: labelled }, addressType: "IPv4" })),
        // Without a version.
        { metadata: { name: "orders-rolecall-ipv4-1", labels: labelled }, addressType: "IPv4" },
        { metadata: {} },
        {},
      ],
      service,
    );
    assert.deepEqual(read, []);
    assert.deepEqual(foreign, [
      { name: "a", manager: null },
      { name: "b", manager: "someone" },
      ...names.map((name) => ({ name, manager: "rolecall" })),
    ]);
  });

  const [label, by] = ["kubernetes.io/service-name", "endpointslice.kubernetes.io/managed-by"];
  const endpoint = { addresses: ["10.0.0.1"], conditions: { ready: true, serving: true, terminating: false } };
  const port = { name: "postgres", port: 5432, protocol: "TCP" };
  const changes: readonly (readonly [string, JsonObject, boolean])[] = [
    ["the label of the Service is gone", { labels: { [by]: "rolecall" } }, true],
    ["the label of the Service is that of another one", { labels: { [by]: "rolecall", [label]: "x" } }, true],
    ["the label of the manager is gone", { labels: { [label]: "orders" } }, true],
    ["another manager", { labels: { [label]: "orders", [by]: "x" } }, true],
    ["a further label", { labels: { [label]: "orders", [by]: "rolecall", team: "x" } }, false],
    ["its Service was created anew", { ownerReferences: [{ uid: "u0" }] }, true],
    ["it has a further owner", { ownerReferences: [{ uid: "u0" }, { uid: "u1" }] }, false],
    ["no owner", { ownerReferences: [] }, true],
    ["another protocol", { ports: [{ ...port, protocol: "UDP" }] }, true],
    ["another port", { ports: [{ ...port, port: 5433 }] }, true],
    ["a further port", { ports: [port, port] }, true],
    ["no port", { ports: [] }, true],
    ["a further address", { endpoints: [{ ...endpoint, addresses: ["10.0.0.1", "10.0.0.9"] }] }, true],
    ["no conditions, which is ready for Kubernetes", { endpoints: [{ addresses: ["10.0.0.1"] }] }, true],
    [
      "an endpoint that ends",
      { endpoints: [{ ...endpoint, conditions: { ...endpoint.conditions, terminating: true } }] },
      true,
    ],
    ["not said whether it ends", { endpoints: [{ ...endpoint, conditions: { ready: true, serving: true } }] }, false],
    ["nothing", {}, false],
  ];
  for (const [what, { labels, ownerReferences, ...change }, isAltered] of changes)
    test(`a slice of its own that somebody has changed is ${isAltered ? "found" : "as it was"}: ${what}`, () => {
      const object = stored(sliceObject(service, slice(), { writer: "me", unready: null, base }));
      const metadata = { ...(object["metadata"] as object), ...stored({ labels, ownerReferences }) };
      const { own: read, foreign } = readSlices([{ ...object, ...change, metadata }], service);
      assert.deepEqual([read.map((one) => one.isAltered), foreign], [[isAltered], []]);
      const [known] = read;
      assert.ok(known !== undefined);
      const sound = { ...known, ...slice() };
      assert.equal(
        writesOf({ slices: [slice()], unready: null }, [sound], { writer: "me", unready: null }).length,
        Number(isAltered),
      );
    });

  test("what a slice does not state is read as Kubernetes reads it: ready", () => {
    const object = stored(sliceObject(service, slice(), { writer: "me", unready: null, base }));
    const { own: read } = readSlices([{ ...object, endpoints: [{ addresses: ["10.0.0.2"] }] }], service);
    assert.deepEqual(
      read.flatMap(({ endpoints }) => endpoints.map(({ isReady, isServing }) => [isReady, isServing])),
      [[true, true]],
    );
  });

  test("as long as the Service is not known, nobody has changed the owner", () => {
    const object = stored(sliceObject(service, slice(), { writer: "me", unready: null, base }));
    assert.equal(readSlices([object], { name: "orders", uid: null }).own[0]?.isAltered, false);
  });

  test("the slices of a Service say together what is published, and by whom", () => {
    const v6 = slice({ family: "IPv6", endpoints: [] });
    assert.equal(publishedOf([]), null);
    assert.equal(publishedOf([own(slice()), own(v6)])?.writer, "me");
    assert.equal(publishedOf([own(slice()), own(v6, { writer: "other" })])?.writer, null);
    assert.equal(publishedOf([own(slice()), own(v6, { unready: "unreached" })])?.unready, null);
    assert.equal(publishedOf([own(slice({}, null)), own(v6, { unready: "unreached" })])?.unready, "unreached");
    assert.equal(publishedOf([own(slice({}, null), { unready: "refused" })])?.unready, "refused");
  });
});

describe("the writes of a Service", () => {
  const stated = { writer: "me", unready: null };

  /** The writes as text: family, port, and who is ready. */
  function writes(content: ServiceContent, before: readonly OwnSlice[], by: typeof stated = stated): readonly string[] {
    return writesOf(content, before, by).map(({ slice: { family, port, endpoints }, base: from }) => {
      const ready = endpoints.find(({ isReady }) => isReady)?.ip ?? (endpoints.length === 0 ? "empty" : "nobody");
      return `${family} ${port} ${ready} ${from === null ? "new" : "known"}`;
    });
  }

  const v6 = slice({
    family: "IPv6",
    endpoints: [{ ip: "fd00::1", isReady: true, isServing: true, zone: null, pod: null }],
  });
  const [first, second] = [slice(), slice({}, "10.0.0.2")];

  for (const [what, slices, before, expected] of [
    ["nothing is there", [first], [], ["IPv4 5432 10.0.0.1 new"]],
    ["another address is ready", [second], [own(first)], ["IPv4 5432 10.0.0.2 known"]],
    ["all is said", [first], [own(first)], []],
    ["another one has written it", [first], [own(first, { writer: "other" })], ["IPv4 5432 10.0.0.1 known"]],
    ["it states a reason that is over", [first], [own(first, { unready: "refused" })], ["IPv4 5432 10.0.0.1 known"]],
    ["one of two slices changes", [second, v6], [own(first), own(v6)], ["IPv4 5432 10.0.0.2 known"]],
    [
      "the ready one is of another family: the old one is taken out first",
      [slice({}, null), v6],
      [own(first)],
      ["IPv4 5432 nobody known", "IPv6 5432 fd00::1 new"],
    ],
    [
      "the database has another port: the old slice is emptied first, and stays",
      [slice({ port: 6432 })],
      [own(first)],
      ["IPv4 5432 empty known", "IPv4 6432 10.0.0.1 new"],
    ],
    ["an emptied slice is not written again", [first], [own(first), own(slice({ port: 6432, endpoints: [] }))], []],
  ] as const)
    test(what, () => assert.deepEqual(writes({ slices, unready: null }, before), expected));
});
