/**
 * Every advice of the features' conditions has a row in test/spec/feature-advice.yaml: what follows if a database that
 * nobody asked still takes writes. That of the core has its own: test/core/health/conditions/advice.test.ts.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parse } from "yaml";
import type { RouteAdvice, RouteDifference } from "../../../src/core/balancing/audited/audit-target.ts";
import { envoyTargets } from "../../../src/features/audit/envoy-targets.ts";
import { ownCodes } from "../../../src/features/canary/core/canary.ts";
import {
  actionsByClass,
  actionsByCode,
  canaryAction,
  lateActions,
} from "../../../src/features/canary/core/canary-text.ts";
import { routeAction } from "../../../src/features/audit/conditions.ts";
import { servicesFound } from "../../../src/features/kubernetes/conditions.ts";
import { serviceProblemKinds } from "../../../src/features/kubernetes/core/seen-service.ts";
import { everyWayFails } from "../../../src/features/canary/conditions.ts";
import { haproxyAdvice } from "../../../src/features/haproxy/haproxy-target.ts";
import { poolersFound } from "../../../src/features/pgbouncer/conditions.ts";
import { poolerAdvice } from "../../../src/features/pgbouncer/audit/pooler-target.ts";
import { xdsTarget } from "../../../src/features/xds/audit/xds-target.ts";
import { configOf, listenerOf } from "../../fake/config.ts";

interface Row {
  readonly do: string;
  readonly if_it_still_writes: string;
}

const rows: readonly Row[] = parse(readFileSync("test/spec/feature-advice.yaml", "utf8"));

/** Each canary's advice: of each code and class that has one, of a commit that waits, and of all others. */
function canaryAdvice(): readonly string[] {
  const ofTls = ["SELF_SIGNED_CERT_IN_CHAIN", "ERR_TLS_CERT_ALTNAME_INVALID"];
  const codes = [
    ...ofTls,
    ...actionsByCode.keys(),
    ...actionsByClass.map(([prefix]) => prefix.padEnd(5, "0")),
    "XX000",
  ];
  const errors = [
    ...[...codes, ...Object.values(ownCodes)].map((code) => ({ code, message: "none" })),
    ...lateActions.map(([said]) => ({ code: ownCodes.timeout, message: said })),
    { code: ownCodes.timeout, message: "its commit is not answered" },
  ];
  return (["write", "read"] as const).flatMap((kind) =>
    errors.map((error) => canaryAction({ ...road, kind }, error).replaceAll(road.target, "{target}")),
  );
}

const road = {
  cluster: "demo",
  pool: "w",
  target: "lb:5000/app",
  user: "canary",
  intervalMs: 5_000,
  isOneOfSeveral: false,
  state: { phase: "pending" },
  passedAtMs: null,
} as const;

/** What is said of poolers that do not answer: all of them, and one of two. */
function deadPoolerAdvice(): readonly string[] {
  const dead = { pooler: "pgb1", address: "{target}", dead: { problem: "connection refused", sinceMs: 0 } };
  const alive = { ...dead, pooler: "pgb2", dead: null };
  return [[dead], [dead, alive]].flatMap((poolers) =>
    poolersFound("demo", poolers).map(
      ({ condition: { status }, found }) => ("tellCase" in status ? status.tellCase(found).action : null) ?? "",
    ),
  );
}

const kinds = ["misrouted", "starved", "missing", "unreachable"] as const;
const flags = [true, false] as const;

/** Every difference of a server from what it should be, as far as advice depends on it. */
function differences(): readonly RouteDifference[] {
  const base = { sinceMs: 0, what: "", isUnusable: false };
  const closures = [null, "MAINT", "weight 0", "disabled", "DOWN"];
  const places = [null, { host: "10.0.0.2", port: 5432 }];
  return kinds.flatMap((kind) =>
    placesOf(kind).flatMap(([server, node]) =>
      flags.flatMap((isStaying) =>
        flags.flatMap((leadsThere) =>
          flags.flatMap((isChecked) =>
            flags.flatMap((isOfPrimary) =>
              closures.flatMap((closed) =>
                places.map((belongsAt) => ({
                  ...base,
                  kind,
                  server,
                  node,
                  isStaying,
                  leadsThere,
                  isChecked,
                  closed,
                  belongsAt,
                  pool: poolWith(isOfPrimary),
                })),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Servers and nodes that a difference can be about: only what is missing, or the whole target, is about no server. */
function placesOf(kind: (typeof kinds)[number]): readonly (readonly [server: string | null, node: string | null])[] {
  if (kind === "unreachable") return [[null, null]];
  const servers = [
    ["{node}", "{node}"],
    ["{node}", null],
  ] as const;
  return kind === "missing" ? [...servers, [null, "{node}"], [null, null]] : servers;
}

function poolWith(isOfPrimary: boolean): NonNullable<RouteDifference["pool"]> {
  return {
    backend: "w",
    cluster: "demo",
    isOfPrimary,
    servers: null,
    lists: "all",
    hasOnlyMembers: true,
    keepsSessions: true,
  };
}

/** What the audit says of each program, as the situation says it. */
function routeAdvice(): readonly string[] {
  const address = { host: "10.0.0.5", port: 6432 };
  const config = configOf({
    clusters: [],
    audit: { intervalMs: 5_000, envoys: [{ name: "envoy1", admin: "http://envoy:9901", pools: null }] },
  });
  const xds = xdsTarget(
    { ...listenerOf({}), dialect: "xds", xds: { checksAt: null, cutMs: 0, staleAfterMs: null, envoys: [] } },
    [],
    () => [],
  );
  assert.ok(xds !== null);
  const advised: readonly ((difference: RouteDifference) => RouteAdvice)[] = [
    ...flags.map((follows) => haproxyAdvice({ path: "/run/haproxy.sock" }, () => follows)),
    ...flags.map((hasFile) => poolerAdvice({ address, user: "rolecall", hasFile: () => hasFile })),
    ...[[], [500]].flatMap((delays) => envoyTargets(config, delays).map(({ advise }) => advise)),
    xds.advise,
  ];
  return differences().flatMap((difference) =>
    advised.map((advise) => routeAction(difference.kind, { target: "{target}", command: advise(difference).command })),
  );
}

/** What is said of Services of Kubernetes: of each problem, and of two rolecalls that differ. */
function serviceAdvice(): readonly string[] {
  const seen = {
    service: "databases/orders",
    cluster: "demo",
    pool: "w",
    standing: { kind: "agreed", sinceMs: 0 },
    writer: null,
    isMine: false,
    isMisleading: false,
    endpoints: [],
    wroteAtMs: null,
    problems: [],
  } as const;
  const problems = serviceProblemKinds.map((kind) => ({ ...seen, problems: [{ kind, text: "", sinceMs: 0 }] }));
  return [...problems, { ...seen, standing: { kind: "left", sinceMs: 0 } as const }].flatMap((service) =>
    servicesFound([service], 60_000, (ms) => ms).map(
      ({ condition: { status }, found }) => ("tellCase" in status ? status.tellCase(found).action : null) ?? "",
    ),
  );
}

const given = [everyWayFails, ...canaryAdvice(), ...deadPoolerAdvice(), ...routeAdvice(), ...serviceAdvice()];

test("each advice has a row, and each row is given", () => {
  const shapes = new Set(given);
  assert.ok(shapes.size > 30);
  assert.deepEqual(rows.map((row) => row.do).toSorted(), [...shapes].toSorted());
});

test("no advice hides a node, or ends what still holds data", () => {
  for (const { do: advice, if_it_still_writes: outcome } of rows) {
    assert.ok(outcome.length > 10, advice);
    assert.doesNotMatch(
      advice,
      /reload rolecall|forget|remove it|distrust|reinitialize|pg_cancel|pg_terminate|immediate/i,
    );
  }
});
