/** What tries make of a canary, what is said of it, and what holds of its cluster. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  afterTry,
  type CanaryState,
  kindOf,
  type KnownCanary,
  type TryOutcome,
} from "../../../../src/features/canary/core/canary.ts";
import {
  canaryAction,
  canaryDocument,
  canaryText,
  triedText,
} from "../../../../src/features/canary/core/canary-text.ts";
import { tableSql, writeSql } from "../../../../src/features/canary/core/canary-table.ts";
import { canariesFound, everyWayFails } from "../../../../src/features/canary/conditions.ts";

const server = { address: "10.0.0.2", port: 5432, isInRecovery: false, system: "7" };
const passed: TryOutcome = { kind: "passed", tookMs: 4, server, ageMs: null };
const failed = (code: string, message: string): TryOutcome => ({
  kind: "failed",
  tookMs: 9,
  server: null,
  error: { code, message },
});
const tooMany = failed("53300", "too many clients already");

/** A canary after tries that began at 0 s, 5 s, 10 s, … */
function after(outcomes: readonly TryOutcome[], parts: Partial<KnownCanary> = {}): KnownCanary {
  const state = outcomes.reduce<CanaryState>(
    (before, outcome, at) =>
      afterTry(before, outcome, { triedAtMs: at * 5_000, node: outcome === passed ? "pg2" : null }),
    { phase: "pending" },
  );
  const lastPassed = outcomes.findLastIndex(({ kind }) => kind === "passed");
  const passedAtMs = lastPassed === -1 ? null : lastPassed * 5_000;
  const rest = { target: "lb:5000/app", user: "canary", intervalMs: 5_000, isOneOfSeveral: false, passedAtMs };
  return { cluster: "orders", pool: "orders-write", kind: "write", ...rest, state, ...parts };
}

const texts: readonly (readonly [canary: KnownCanary, text: string])[] = [
  [after([]), "not tried yet through orders-write"],
  [after([passed]), "tried 13.0 s ago through orders-write: committed on pg2 in 4 ms"],
  [
    after([{ ...passed, server: { ...server, address: null } }]),
    "tried 13.0 s ago through orders-write: committed on a server whose address is not known in 4 ms",
  ],
  [
    after([{ ...passed, ageMs: 1_200 }], { kind: "read", pool: "orders-read", isOneOfSeveral: true }),
    "tried 13.0 s ago through orders-read at lb:5000/app: read on 10.0.0.2:5432 in 4 ms, a row of 1.2 s before",
  ],
  [
    after([{ ...passed }], { kind: "read" }),
    "tried 13.0 s ago through orders-write: read on 10.0.0.2:5432 in 4 ms, no row in the table",
  ],
  [
    after([passed, tooMany, tooMany]),
    "tried 3.0 s ago through orders-write: 53300 too many clients already, for 8.0 s",
  ],
  [
    after([failed("timeout", "no answer to the write within 2.0 s")]),
    "tried 13.0 s ago through orders-write: no answer to the write within 2.0 s, for 13.0 s",
  ],
  [
    after([{ kind: "failed", tookMs: 1, server, error: { code: "25006", message: "cannot execute INSERT" } }]),
    "tried 13.0 s ago through orders-write: on 10.0.0.2:5432: 25006 cannot execute INSERT, for 13.0 s",
  ],
];

suite("what is said of a canary", () => {
  for (const [canary, text] of texts) test(text, () => assert.equal(canaryText(canary, 13_000), text));

  test("a situation says that a try was in vain, and leaves the error to its cause", () => {
    assert.equal(triedText(after([passed, tooMany]), 13_000), "tried 8.0 s ago through orders-write, in vain");
    assert.equal(triedText(after([passed]), 13_000), canaryText(after([passed]), 13_000));
  });

  test("its document has the fields of docs/canaries.md", () => {
    const instant = { nowMs: 13_000, wallMs: Date.UTC(2026, 0, 1) };
    assert.deepEqual(canaryDocument(after([passed, tooMany, tooMany]), instant), {
      pool: "orders-write",
      target: "lb:5000/app",
      kind: "write",
      state: "failed",
      tried_at: "2025-12-31T23:59:57.000Z",
      took_ms: 9,
      node: null,
      server: null,
      age_ms: null,
      error: { code: "53300", message: "too many clients already" },
      unfit: false,
      failing_since: "2025-12-31T23:59:52.000Z",
      interval_ms: 5_000,
      text: "tried 3.0 s ago through orders-write: 53300 too many clients already, for 8.0 s",
      action:
        "Find what holds the connections (pg_stat_activity), and end idle ones. A pooler before the database bounds them",
    });
  });

  test("every failure has an action, also one of an unknown code", () => {
    const said = (code: string): string => canaryAction(after([]), { code, message: "x" });
    assert.match(said("42P01"), /rolecall canaries --sql canary/);
    assert.match(said("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), /^Give the canary the authority .*: ca in its tls/);
    assert.match(said("CERT_HAS_EXPIRED"), /^Renew the certificate of lb:5000\/app/);
    assert.match(said("ERR_TLS_CERT_ALTNAME_INVALID"), /^Set server_name in tls/);
    assert.match(said("timeout"), /^Look at what listens at lb:5000\/app, and at the database behind it/);
    const commit = { code: "timeout", message: "the write was accepted, but its commit is not answered within 2.0 s" };
    assert.match(
      canaryAction(after([]), commit),
      /^Look at the synchronous standby: .*Do not end the waiting sessions/,
    );
    assert.match(said("28000"), /pg_hba\.conf/);
    assert.equal(
      said("28P01"),
      "Compare password_file of the canary with the password of canary. Clients with another user may be served",
    );
    const late = (message: string): string => canaryAction(after([]), { code: "timeout", message });
    assert.equal(
      late("no connection within 2.0 s"),
      "Look at the host of lb:5000/app and at the network to it: nothing there answers a connection",
    );
    assert.equal(
      late("connected, but no answer to the login within 2.0 s"),
      "Look at what listens at lb:5000/app: it accepts connections and answers none, as a balancer or pooler that hangs does, or one whose database hangs",
    );
    assert.equal(
      late("logged in, but no answer to the first query (behind a pooler: no server for it) within 2.0 s"),
      "Look at the pooler at lb:5000/app (SHOW DATABASES: is one paused? SHOW POOLS: who waits?), then at the database behind it",
    );
    assert.equal(
      late("no answer to the write within 2.0 s"),
      "Find what the server waits for (pg_stat_activity, wait_event), and look at its disk",
    );
    assert.match(
      late("the commit of an earlier write waits for 12.0 s for a synchronous standby (SyncRep)"),
      /standbys/,
    );
    assert.match(said("XX000"), /^Connect as canary to lb:5000\/app as clients do, and write$/);
  });
});

suite("after a try", () => {
  test("an own failure says nothing", () => {
    const before = after([passed]).state;
    assert.equal(afterTry(before, { kind: "own_failure" }, { triedAtMs: 9, node: null }), before);
  });

  test("one that passes ends the failures", () => {
    assert.equal(after([tooMany, tooMany, passed]).state.phase, "passed");
  });
});

test("a write is tried where the check has the node that takes writes", () => {
  const rows = [
    ["primary", false, "write"],
    ["leader", false, "write"],
    ["leader", true, "read"],
    ["standby-leader", false, "read"],
    ["replica", false, "read"],
    ["read-only", false, "read"],
  ] as const;
  for (const [route, isStandbyCluster, kind] of rows) assert.equal(kindOf(route, isStandbyCluster), kind, route);
});

/** The conditions of a cluster with these canaries: kind, severity and message. */
function saidOf(...canaries: readonly KnownCanary[]): readonly string[] {
  return canariesFound(canaries).map(({ condition, found }) => `${condition.id} ${found.severity}: ${found.message}`);
}

suite("what holds of a cluster", () => {
  const read = { kind: "read", pool: "orders-read" } as const;
  const elsewhere = failed("other_database", "reached another database: its system identifier is 8");

  test("one failed try is chance, two are a condition", () => {
    assert.deepEqual(saidOf(after([passed, tooMany])), []);
    assert.deepEqual(saidOf(after([passed, tooMany, tooMany])), [
      "canary_write_failed error: clients cannot write through orders-write: 53300 too many clients already",
    ]);
  });

  test("several of one kind are one condition, which names the one that has failed the longest", () => {
    assert.deepEqual(saidOf(after([passed, tooMany, tooMany]), after([tooMany, tooMany], { pool: "old" })), [
      "canary_write_failed error: clients cannot write through old: 53300 too many clients already (and 1 more)",
    ]);
  });

  test("a pooler that complains of what is behind it is not named before what is behind it", () => {
    const behind = failed("08P01", "server login has been failing");
    const closed = failed("closed", "the connection was closed before the login");
    const pooled = after([behind, behind, behind], { pool: "pooled" });
    const direct = after([passed, closed, closed]);
    assert.deepEqual(saidOf(pooled, direct), [
      "canary_write_failed error: clients cannot write through orders-write: the connection was closed before the login (and 1 more)",
    ]);
    assert.equal(canariesFound([pooled, direct])[0]?.found.sinceMs, 0);
    assert.match(saidOf(pooled).join(), /through pooled: 08P01 server login has been failing$/);
  });

  test("once one way fails for certain, the first failure of another counts: the balancer is named, not the pooler behind it", () => {
    const behind = failed("08P01", "server login has been failing");
    const closed = failed("closed", "the connection was closed before the login");
    const pooled = (...tries: readonly TryOutcome[]): KnownCanary =>
      after(tries, { pool: "pooled", target: "pooler:6432/app" });
    const direct = after([passed, closed]);
    assert.deepEqual(saidOf(pooled(passed, behind), direct), [], "each may be chance");
    const [told] = canariesFound([pooled(behind, behind), direct]);
    assert.match(told?.found.message ?? "", /through orders-write: the connection was closed .*\(and 1 more\)$/);
    assert.equal(told?.found.figures["action"], everyWayFails);
    const [alone] = canariesFound([pooled(behind, behind), after([closed, passed])]);
    assert.match(
      alone?.found.message ?? "",
      /through pooled: 08P01 server login has been failing$/,
      "the mirror image",
    );
  });

  test("reads are a warning while another canary of the pool reads", () => {
    assert.deepEqual(saidOf(after([tooMany, tooMany], read), after([passed], read)), [
      "canary_read_failed warning: clients cannot read through orders-read: 53300 too many clients already",
    ]);
    assert.deepEqual(saidOf(after([tooMany, tooMany], read), after([passed], { ...read, pool: "other" })), [
      "canary_read_failed error: clients cannot read through orders-read: 53300 too many clients already",
    ]);
  });

  test("a canary that lacks its own table, user, password or files says nothing of clients", () => {
    const own = [
      "42P01",
      "42501",
      "28P01",
      "28000",
      "no_password",
      "tls_file",
      "clear_password",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "CERT_UNTRUSTED",
      "ERR_TLS_CERT_ALTNAME_INVALID",
      "HOSTNAME_MISMATCH",
    ];
    for (const code of own) assert.deepEqual(saidOf(after([failed(code, "x"), failed(code, "x")])).length, 1, code);
    const [brought] = canariesFound([after([failed("28P01", "no"), failed("28P01", "no")])]);
    assert.ok(brought !== undefined && "tellCase" in brought.condition.status);
    const { condition, wrong, cause } = brought.condition.status.tellCase(brought.found);
    assert.deepEqual(
      [condition, wrong, cause, brought.found.severity],
      ["warning", "a canary cannot try", "through orders-write: 28P01 no", "warning"],
    );
    for (const code of ["53300", "25006", "3D000", "08P01", "timeout", "closed", "ECONNREFUSED", "57P03", "53100"])
      assert.match(saidOf(after([failed(code, "x"), failed(code, "x")]))[0] ?? "", /^canary_write_failed error/, code);
  });

  test("where pg_hba.conf refuses a canary that it let in before, clients fail", () => {
    const refused = failed(
      "28000",
      'pg_hba.conf rejects connection for host "10.0.0.9", user "canary", database "app"',
    );
    assert.match(
      saidOf(after([passed, refused, refused]))[0] ?? "",
      /^canary_write_failed error: clients cannot write/,
    );
    assert.match(saidOf(after([refused, refused]))[0] ?? "", /^canary_unfit warning/, "it may lack its own line");
    const gone = failed("28000", 'role "canary" does not exist');
    assert.match(saidOf(after([passed, gone, gone]))[0] ?? "", /^canary_unfit warning/);
    const wrong = failed("28P01", "password authentication failed");
    assert.match(saidOf(after([passed, wrong, wrong]))[0] ?? "", /^canary_unfit warning/);
  });

  test("another database is told at the first try", () => {
    assert.deepEqual(saidOf(after([elsewhere])), [
      "canary_astray error: clients reach another database through orders-write: reached another database: its system identifier is 8",
    ]);
  });
});

test("a cluster whose write canary fails is not ok: the situation tells it, and what to do", () => {
  const told = canariesFound([after([tooMany, tooMany])]).map(({ condition: { status }, found }) =>
    "tellCase" in status ? status.tellCase(found) : null,
  );
  assert.deepEqual(told, [
    {
      condition: "clients failing",
      wrong: "clients cannot write",
      cause: "through orders-write: 53300 too many clients already",
      clause: "clients cannot write through orders-write: 53300 too many clients already",
      sinceMs: 0,
      next: null,
      action:
        "Find what holds the connections (pg_stat_activity), and end idle ones. A pooler before the database bounds them",
    },
  ]);
});

test("of several canaries that fail, the one is named whose error says more than that something is behind it", () => {
  const [closed, full, refused] = [
    [failed("closed", "closed"), failed("closed", "closed")],
    [tooMany, tooMany],
    [failed("ECONNREFUSED", "refused"), failed("ECONNREFUSED", "refused")],
  ].map((tries) => after(tries));
  assert.ok(closed !== undefined && full !== undefined && refused !== undefined);
  assert.match(saidOf(closed, full)[0] ?? "", /53300 .*\(and 1 more\)$/);
  // A cluster without a primary shows closed connections, and nothing else shows a dead balancer.
  const followsLoss = (...canaries: readonly KnownCanary[]): unknown => canariesFound(canaries)[0]?.found.followsLoss;
  assert.equal(followsLoss(closed), true);
  assert.equal(followsLoss(after([failed("25006", "read-only"), failed("25006", "read-only")])), true);
  assert.equal(followsLoss(refused), false);
  assert.equal(followsLoss(closed, refused), false);
});

test("where every way fails as it does before a database that is ill, what the ways have in common comes first", () => {
  const actionOf = (...canaries: readonly KnownCanary[]): unknown =>
    canariesFound(canaries)[0]?.found.figures["action"];
  const closed = after([failed("closed", "closed"), failed("closed", "closed")]);
  const pooler = { target: "pooler:6432/app" };
  const noServer = failed("08P01", "server login has been failing");
  assert.equal(
    actionOf(closed, after([noServer, noServer], pooler)),
    "Clients of every way fail. Look at what the ways have in common: PostgreSQL of the primary, its log and its disk; and a balancer, of which one without a usable server (down, or in maintenance) closes each connection. rolecall status routes shows its servers",
  );
  const atCommit = failed(
    "timeout",
    "the commit of an earlier write waits for 9 s for a synchronous standby (SyncRep)",
  );
  const rows = [
    [closed],
    [closed, after([passed], pooler)],
    [after([tooMany, tooMany]), after([noServer, noServer], pooler)],
    [after([atCommit, atCommit]), after([noServer, noServer], pooler)],
  ];
  for (const row of rows) assert.doesNotMatch(String(actionOf(...row)), /of every way/);
});

test("names are quoted in the table's SQL, and values by the driver", () => {
  assert.match(tableSql("canary"), /TO canary;\n$/);
  assert.match(tableSql('My "role"'), /TO "My ""role""";\n$/);
  const row = { instance: "edge1:8008", pool: "w", target: "lb:5000/app" };
  assert.match(
    writeSql(row, (text) => `<${text}>`),
    /VALUES \(<edge1:8008>, <w>, <lb:5000\/app>, /,
  );
});
