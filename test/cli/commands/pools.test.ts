import assert from "node:assert/strict";
import { test } from "node:test";
import { serveCannedAnswers } from "../../fake/canned-server.ts";
import { runText } from "../../fake/command-line.ts";

const head = { pool: "read", cluster: "demo", check: "/replica", named: true, version: "v", used_by: [] };
const figures = { zone: null, degraded: false, figure: null, lag_bytes: null, lag_ms: null };

function member(node: string, state: object): object {
  return { node, host: "10.0.0.1", port: 5432, ...figures, fit: false, known: true, reason: null, no: null, ...state };
}

const unheard = { known: false, reason: "unknown", no: "hard" };

/** A pool as rolecall answers it, and what the command says of it. */
const rows: readonly (readonly [state: string, pool: object, says: readonly RegExp[], not: readonly RegExp[]])[] = [
  [
    "no node is known yet",
    { known: false, fit: 0, members: [] },
    [/not known: not all members have answered yet/, /no node is known/],
    [/0 of 0/],
  ],
  [
    "no node was heard yet",
    { known: false, fit: 0, members: [member("pg1", unheard), member("pg2", unheard)] },
    [/not known: not all members have answered yet/, /pg1 .* not known\n/],
    [/0 of 2/, /hard no/],
  ],
  [
    "one was heard",
    { known: false, fit: 1, members: [member("pg1", { fit: true }), member("pg2", unheard)] },
    [/not known: not all/, /pg1 .* fit\n/, /pg2 .* not known\n/],
    [/1 of 2/],
  ],
  [
    "blind: the members are as they were",
    {
      known: true,
      fit: 1,
      members: [
        member("pg1", { fit: true, known: false, reason: "blind", no: "hard" }),
        member("pg2", { ...unheard, reason: "blind" }),
      ],
    },
    [/1 of 2 fit/, /pg1 .* not known \(blind\), still fit for/, /pg2 .* not known \(blind\), still unfit for/],
    [/hard no/],
  ],
  [
    "all are known",
    {
      known: true,
      fit: 0,
      members: [member("pg1", { reason: "wrong_role", no: "soft" }), member("pg2", { reason: "down", no: "hard" })],
    },
    [/0 of 2 fit/, /pg1 .* wrong_role\n/, /pg2 .* down \(hard no\)/],
    [/not known/],
  ],
  [
    "a rolecall that says nothing of what is known",
    { fit: 1, members: [member("pg1", { fit: true, known: undefined })] },
    [/1 of 1 fit/, /pg1 .* fit\n/],
    [/not known/],
  ],
];

for (const [state, pool, says, not] of rows)
  test(`rolecall status pools: ${state}`, async (context) => {
    const server = await serveCannedAnswers({ "/pools": { body: { snapshot: "a.1", pools: [{ ...head, ...pool }] } } });
    context.after(() => server.close());
    const { code, out, err } = await runText(["status", "pools", "--server", server.url]);
    assert.equal(code, 0, err);
    for (const text of says) assert.match(out, text);
    for (const text of not) assert.doesNotMatch(out, text);
  });
