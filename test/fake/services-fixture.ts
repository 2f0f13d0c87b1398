/** Rolecalls that publish the same Services: each with a client and watches of its own, at one API server. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { listOf, objectOf } from "../../src/core/cluster/values/json.ts";
import { Scope } from "../../src/core/feature/scope.ts";
import { setSystemTimer } from "../../src/core/probe/schedule/system-timer.ts";
import { readApiAccess } from "../../src/features/kubernetes/api/api-access.ts";
import { ApiClient } from "../../src/features/kubernetes/api/api-client.ts";
import { NamespaceServices } from "../../src/features/kubernetes/slices/namespace-services.ts";
import type { PublishedServiceKey } from "../../src/features/kubernetes/slices/service-object.ts";
import type { KnownMembers } from "../../src/features/kubernetes/slices/service-publisher.ts";
import { FakeApiServer } from "./fake-api-server.ts";
import { until } from "./until.ts";

/** How often Leases are renewed, in ms. */
export const renewMs = 40;

/** One rolecall. */
export interface PublishingRolecall {
  readonly services: NamespaceServices;
  /** What it says from now on of a Service: which address is ready, as {@link membersOf}. */
  readonly say: (members: KnownMembers, service?: string) => void;
  readonly ends: string[];
  /** How late what it has published was, in ms. */
  readonly late: readonly number[];
  /** Stops to renew and to write, as a process that is frozen. */
  readonly freeze: () => void;
  readonly thaw: () => void;
}

export interface ServicesFixture {
  readonly server: FakeApiServer;
  readonly rolecall: (name: string, keys?: readonly Partial<PublishedServiceKey>[]) => PublishingRolecall;
  /** Waits until this is published of a Service: `10.0.0.1 by a`. */
  readonly published: (expected: string, service?: string) => Promise<unknown>;
  readonly said: (service?: string) => string;
  /** How many writes of slices the server has received. */
  readonly writes: () => number;
  /** Waits until so many renewals of a rolecall have been received from now on. */
  readonly renewals: (name: string, count: number) => Promise<unknown>;
}

/** The members pg1 and pg2. @param ready `10.0.0.1`; `null`: nobody */
export function membersOf(ready: string | null, parts: { readonly isUnreached?: boolean } = {}): KnownMembers {
  return ["10.0.0.1", "10.0.0.2"].map((ip) => ({
    node: ip,
    address: { ip, port: 5432 },
    isFit: ip === ready,
    isServing: true,
    isSilent: false,
    isUnreached: parts.isUnreached === true && ip !== ready,
    why: ip === ready ? null : parts.isUnreached === true ? "down" : "wrong_role",
    zone: null,
  }));
}

/** @param callMs the deadline of a call, in ms; default: that of rolecall */
export async function servicesFixture(context: TestContext, callMs?: number): Promise<ServicesFixture> {
  const server = await FakeApiServer.open(context);
  const file = server.kubeconfig();
  for (const name of ["orders", "other"]) server.put("services", serviceObject(name));
  const said = (name = "orders"): string => {
    const slices = server
      .objects("endpointslices")
      .filter(({ metadata }) => objectOf(objectOf(metadata)["labels"])["kubernetes.io/service-name"] === name);
    const ready = slices.flatMap(({ endpoints }) =>
      listOf(endpoints)
        .map(objectOf)
        .filter(({ conditions }) => objectOf(conditions)["ready"] === true)
        .flatMap(({ addresses }) => listOf(addresses)),
    );
    const annotations = objectOf(objectOf(slices[0]?.["metadata"])["annotations"]);
    const { "rolecall/writer": who = "nobody", "rolecall/unready": unready = "nobody" } = annotations;
    return slices.length === 0 ? "nothing" : [ready.join() || unready, who].join(" by ");
  };
  const rolecall: ServicesFixture["rolecall"] = (me, keys = [{}]) => {
    let isFrozen = false;
    const scope = new Scope({ setTimer: setSystemTimer, onProblem: (...problem) => assert.fail(problem.join()) });
    const now = (): number => performance.now();
    const client = new ApiClient({
      readAccess: () => readApiAccess({ kubeconfig: file, context: null }, {}),
      now,
      ...(callMs === undefined ? {} : { callMs }),
    });
    const ends: string[] = [];
    const late: number[] = [];
    const services = new NamespaceServices("databases", {
      client,
      me,
      now,
      random: () => 0,
      wall: () => Date.now(),
      setTimer: scope.setTimer,
      isWithdrawn: () => isFrozen,
      renewMs: () => renewMs,
      place: () => Promise.resolve(() => {}),
      eventPlace: () => Promise.resolve(() => {}),
      onWrite: (end) => void ends.push(end),
      onPublished: (lateMs) => void late.push(lateMs),
      onChange: () => {},
    });
    services.configure(
      keys.map((key) => ({ namespace: "databases", name: "orders", port: null, isOfPrimary: true, ...key })),
    );
    context.after(async () => {
      services.stop();
      client.close();
      await scope.end();
    });
    const say: PublishingRolecall["say"] = (members, name = "orders") =>
      services.publisherOf(name)?.setMembers(members);
    return { services, say, ends, late, freeze: () => void (isFrozen = true), thaw: () => void (isFrozen = false) };
  };
  const leases = (name: string): number =>
    server.calls.filter(
      (call) => call.verb === "patch" && call.resource === "leases" && call.name === `rolecall-${name}`,
    ).length;
  return {
    server,
    rolecall,
    said,
    published: (expected, name) => until({ what: expected, evidence: () => said(name) }, () => said(name) === expected),
    writes: () =>
      server.calls.filter(
        ({ verb, resource }) => resource === "endpointslices" && (verb === "patch" || verb === "create"),
      ).length,
    renewals: async (name, count) => {
      const from = leases(name);
      await until(`${count} renewals of ${name}`, () => leases(name) >= from + count);
    },
  };
}

/** A Service without a selector. */
export function serviceObject(name: string, spec: object = {}): object {
  return { metadata: { name }, spec: { ports: [{ name: "postgres", port: 5432 }], ...spec } };
}
