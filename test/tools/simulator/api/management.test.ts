import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { isJsonObject, type SimulatorJson, type SimulatorObject } from "../../../../src/tools/simulator/model/json.ts";
import type { Simulator } from "../../../../src/tools/simulator/simulator.ts";
import { call, type RawResponse, withSimulator } from "../caller.ts";

interface Send {
  readonly send: string;
  readonly to?: string;
  readonly body?: SimulatorJson;
  readonly text?: string;
}

interface Row extends Send {
  readonly call: string;
  readonly status: number;
  readonly says?: string;
  readonly config?: SimulatorObject;
  readonly given?: {
    readonly config?: SimulatorObject;
    readonly faults?: Readonly<Record<string, "hang" | "freeze" | "detach">>;
    readonly written?: number;
    readonly switchoverMs?: number;
    readonly first?: Send;
  };
}

const rows = JSON.parse(readFileSync(join("test", "spec", "simulator-management.json"), "utf8")) as readonly Row[];

describe("management calls over HTTP", () => {
  for (const row of rows) {
    it(`${row.call} is ${String(row.status)}`, () =>
      // The clock runs a hundred times faster than real time, so that waits of 20 s are short.
      withSimulator({ speed: 100, switchoverMs: row.given?.switchoverMs ?? 2000 }, async (simulator) => {
        const { given = {} } = row;
        if (given.config !== undefined) await send(simulator, { send: "PATCH /config", body: given.config });
        for (const [name, kind] of Object.entries(given.faults ?? {})) await simulator.fault(name, { kind });
        // A lag of one replica makes the primary write that much at once.
        if (given.written !== undefined) await simulator.fault("pg2", { kind: "lag", bytes: given.written });
        if (given.first !== undefined) await send(simulator, given.first);
        const { status, type, body } = await send(simulator, row);
        assert.equal(status, row.status, body);
        if (row.says !== undefined) assert.deepEqual([body, type], [row.says, "text/html"]);
        if (row.config !== undefined) {
          holds(JSON.parse(body) as SimulatorJson, row.config);
          holds(
            JSON.parse((await send(simulator, { send: "GET /config", to: "pg3" })).body) as SimulatorJson,
            row.config,
          );
        }
      }));
  }

  it("a body above 1 MiB is 413", () =>
    withSimulator({}, async (simulator) => {
      const { status } = await send(simulator, { send: "PATCH /config", text: `{"a": "${"x".repeat(1_048_576)}"}` });
      assert.equal(status, 413);
    }));

  it("a PATCH of loop_wait takes effect; one of a restart parameter is pending until the restart", () =>
    withSimulator({ speed: 100 }, async (simulator) => {
      await send(simulator, {
        send: "PATCH /config",
        body: { loop_wait: 1, postgresql: { parameters: { max_connections: 60 } } },
      });
      const pending = JSON.parse((await send(simulator, { send: "GET /patroni" })).body) as SimulatorObject;
      assert.equal(pending["pending_restart"], true);
      assert.deepEqual(pending["pending_restart_reason"], { max_connections: { old_value: "100", new_value: "60" } });
      await send(simulator, { send: "POST /restart" });
      const done = JSON.parse((await send(simulator, { send: "GET /ha" })).body) as SimulatorObject;
      assert.equal(done["pending_restart"], undefined);
    }));

  it("a scheduled restart is in the document and happens", () =>
    withSimulator({ speed: 100 }, async (simulator) => {
      const started = (document: SimulatorObject): unknown => document["postmaster_start_time"];
      const before = JSON.parse((await send(simulator, { send: "GET /patroni" })).body) as SimulatorObject;
      // A second of real time ahead: enough for two requests on a busy machine.
      const schedule = new Date(Date.now() + 100_000).toISOString();
      await send(simulator, { send: "POST /restart", body: { schedule, role: "primary" } });
      const shown = JSON.parse((await send(simulator, { send: "GET /patroni" })).body) as SimulatorObject;
      assert.ok(isJsonObject(shown["scheduled_restart"]) && shown["scheduled_restart"]["role"] === "primary");
      for (;;) {
        const after = JSON.parse((await send(simulator, { send: "GET /patroni" })).body) as SimulatorObject;
        if (after["state"] === "running" && started(after) !== started(before)) break;
      }
    }));
});

function send({ nodes }: Simulator, { send: line, to = "pg1", body, text }: Send): Promise<RawResponse> {
  const [method = "", path = ""] = line.split(" ");
  const url = nodes.find(({ name }) => name === to)?.url ?? "";
  return call(`${url}${path}`, { method, body: text ?? (body === undefined ? undefined : JSON.stringify(body)) });
}

/** Asserts that the document has the expected fields; "gone" means that the key is absent. */
function holds(document: SimulatorJson | undefined, expected: SimulatorJson): void {
  if (!isJsonObject(expected)) {
    if (expected === "gone") assert.equal(document, undefined);
    else assert.deepEqual(document, expected);
    return;
  }
  for (const [key, value] of Object.entries(expected)) holds(isJsonObject(document) ? document[key] : undefined, value);
}
