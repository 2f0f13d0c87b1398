import { clusterExplanation } from "./cluster-explanation.ts";
import { leaderRow } from "./leader-row.ts";
import type { CannedAnswer } from "./canned-server.ts";

const node = {
  state: "running",
  timeline: 3,
  lag_ms: 0,
  age_ms: 420,
  version: "4.1.4",
  system: "7710",
  scope: "demo",
  exporter: null,
  detail: null,
  warning: null,
  drain: null,
};

/** What a running rolecall would answer, always the same: for texts that are compared letter by letter. */
export const adminApiAnswers: Readonly<Record<string, CannedAnswer>> = {
  "/status": {
    body: {
      instance: "aa",
      snapshot: 12,
      clusters: [
        {
          cluster: "demo",
          scope: "demo",
          leader: "pg1",
          timeline: 3,
          blind: false,
          paused: false,
          nodes: [
            {
              ...node,
              node: "pg1",
              role: "primary",
              lag_bytes: 0,
              api: "http://10.0.0.1:8008",
              database: "10.0.0.1:5432",
              verdicts: { primary: "fit", replica: "wrong_role" },
              reason: null,
            },
            {
              ...node,
              node: "pg2",
              role: "replica",
              lag_bytes: 1536,
              api: "http://10.0.0.2:8008",
              database: "10.0.0.2:5432",
              verdicts: { primary: "wrong_role", replica: "fit", async: "fit" },
              reason: null,
            },
            {
              ...node,
              node: "pg3",
              role: "replica",
              lag_bytes: null,
              lag_ms: null,
              age_ms: 65_000,
              api: "http://10.0.0.3:8008",
              database: "10.0.0.3:5432",
              verdicts: { primary: "down", replica: "down" },
              reason: "down",
              detail: "connect ECONNREFUSED",
            },
          ],
        },
        {
          cluster: "shop",
          scope: "shop",
          leader: null,
          timeline: null,
          blind: false,
          paused: true,
          nodes: [
            {
              ...node,
              node: "db\u001b[31m1",
              role: "replica",
              lag_bytes: 12_582_912,
              lag_ms: 90_000,
              api: "http://10.0.1.1:8008",
              database: "10.0.1.1:5432",
              verdicts: { primary: "wrong_role", replica: "drained" },
              reason: "drained",
              detail: "disk swap",
              drain: {
                reason: "disk swap",
                by: "operator",
                all: false,
                since: "2026-01-31T12:00:00.000Z",
                until: "2026-01-31T12:30:00.000Z",
                remaining_ms: 1_200_000,
              },
            },
          ],
        },
      ],
    },
  },
  "/clusters/demo/nodes/pg2/replica?lag=1MB": {
    headers: { "X-Rolecall-Node": "pg2" },
    body: { role: "replica", rolecall: { node: "pg2", cluster: "demo", fit: true, reason: null, lag_bytes: 1536 } },
  },
  "/clusters/demo/nodes/pg3/replica": {
    status: 503,
    headers: { "X-Rolecall-Reason": "down" },
    body: { state: "unknown", rolecall: { node: "pg3", cluster: "demo", fit: false, reason: "down", lag_bytes: null } },
  },
  "/clusters/demo/primary": {
    body: { rolecall: { node: "pg1", cluster: "demo", fit: true, reason: null, lag_bytes: 0, degraded: true } },
  },
  "/clusters/demo/nodes/pg2/replica?lagg=1MB": {
    status: 400,
    body: { error: "bad_request", message: "Cannot read parameter lagg" },
  },
  "/clusters/demo/replica": { body: "<html>a proxy's page</html>" },
  "/explain?node=demo%2Fpg3&check=%2Freplica": {
    body: {
      node: "pg3",
      cluster: "demo",
      fit: false,
      reason: "down",
      decisive: "reachable",
      rules: [
        {
          rule: "not blind",
          outcome: "pass",
          value: "newest report is 0.4 s old",
          limit: "5.5 s",
          age_ms: 420,
          source: "all nodes",
          reason: null,
        },
        {
          rule: "reachable",
          outcome: "refuse",
          value: "4 failed in a row",
          limit: "down after 3",
          age_ms: 65_000,
          source: "GET /leader of pg3",
          reason: "down",
        },
        {
          rule: "identity",
          outcome: "skip",
          value: "guard same_system is off",
          limit: null,
          age_ms: null,
          source: "",
          reason: null,
        },
      ],
    },
  },
  "/explain?cluster=demo&check=%2Freplica": { body: clusterExplanation },
  "/explain?node=demo%2Fpg2&check=%2Freplica": {
    body: { node: "pg2", cluster: "demo", fit: true, reason: null, decisive: null, rules: [] },
  },
  "GET /drains": {
    body: {
      drains: [
        {
          cluster: "shop",
          node: "db1",
          reason: "disk swap",
          by: "operator",
          all: false,
          since: "2026-01-31T12:00:00.000Z",
          until: "2026-01-31T12:30:00.000Z",
          remaining_ms: 1_200_000,
        },
        {
          cluster: "demo",
          node: "pg2",
          reason: "kernel upgrade",
          by: null,
          all: true,
          since: "2026-01-31T12:00:00.000Z",
          until: "2026-01-31T14:00:00.000Z",
          remaining_ms: 7_200_000,
        },
      ],
    },
  },
  "POST /drains/demo/pg2": {
    body: {
      cluster: "demo",
      node: "pg2",
      drain: {
        reason: "kernel upgrade",
        by: "operator",
        all: false,
        since: "2026-01-31T12:00:00.000Z",
        until: "2026-01-31T12:30:00.000Z",
        remaining_ms: 1_800_000,
      },
    },
  },
  "DELETE /drains/demo/pg2": { body: { cluster: "demo", node: "pg2", drain: null } },
  "DELETE /drains/demo/pg1": {
    status: 404,
    body: { error: "not_drained", message: "Cannot end the drain of pg1 in demo: it has none" },
  },
  "POST /drains/demo/pg3": { status: 403, body: { error: "forbidden", message: "not from here" } },
  "/clusters/demo/cluster": {
    body: {
      scope: "demo",
      members: [leaderRow],
    },
  },
  "POST /clusters/demo/switchover": {
    body: 'Successfully switched over to "pg2"',
    headers: { "X-Rolecall-Snapshot": "aa.13" },
  },
  "POST /clusters/demo/switchover?dry_run=1": { body: { dry_run: true, would: "pass", cluster: "demo", node: "pg1" } },
  "DELETE /clusters/demo/switchover": { status: 404, body: "no switchover is scheduled" },
  "POST /clusters/demo/failover": { status: 412, body: { error: "precondition", message: "pg3 does not answer" } },
  "POST /clusters/demo/nodes/pg2/restart": { status: 202, body: "Restart scheduled" },
  "DELETE /clusters/demo/nodes/pg2/restart": { body: "scheduled restart deleted" },
  "POST /clusters/demo/nodes/pg2/reload": { status: 202, body: "reload scheduled" },
  "POST /clusters/demo/nodes/pg1/reinitialize": {
    status: 503,
    headers: { "X-Rolecall-Node": "pg1" },
    body: "I am the leader, can not reinitialize",
  },
  "GET /clusters/demo/config": { body: { ttl: 30, loop_wait: 10 } },
  "PATCH /clusters/demo/config": { body: { ttl: 20, loop_wait: 10 } },
  "PUT /clusters/demo/config": { body: { ttl: 20 } },
};
