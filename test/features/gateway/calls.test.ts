import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import type { Fault } from "../../../src/tools/simulator/model/faults.ts";
import type { SimulatorOptions } from "../../../src/tools/simulator/simulator.ts";
import { sendRequest, type HttpAnswer } from "../../fake/http-request.ts";
import { until } from "../../fake/until.ts";
import { gatewayFixture, type GatewayFixture } from "../../fake/gateway-fixture.ts";

interface Call {
  readonly call: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answers of a listener without management calls. */
interface Sign {
  readonly path: string;
  readonly status?: number;
  readonly says?: string;
}

interface Row extends Call {
  readonly given: string;
  readonly simulator?: Partial<SimulatorOptions>;
  readonly fault?: { readonly node: string; readonly kind: "kill" };
  readonly before?: readonly Call[];
  readonly until?: Sign;
  readonly status: number;
  readonly says: string;
  /** The error code of a refusal by rolecall; absent if the node answers. */
  readonly reason?: string;
  readonly node?: string;
  readonly then?: Sign;
}

const rows = JSON.parse(readFileSync("test/spec/gateway/calls.json", "utf8")) as readonly Row[];

suite("management calls, by the tables of the node API", { concurrency: 4 }, () => {
  for (const row of rows) {
    test(row.given, async () => {
      const gateway = await gatewayFixture({
        hostSuffixes: [".db.internal"],
        ...(row.simulator === undefined ? {} : { simulator: row.simulator }),
      });
      try {
        await prepare(gateway, row);
        const answer = await send(gateway, row);
        assert.equal(answer.status, row.status, answer.body);
        assert.match(answer.body, new RegExp(row.says));
        assert.equal(answer.headers["x-rolecall-reason"], row.reason);
        if (row.node !== undefined) assert.equal(answer.headers["x-rolecall-node"], row.node);
        if (row.then !== undefined) await shows(gateway, row.then);
      } finally {
        await gateway.close();
      }
    });
  }
});

async function prepare(gateway: GatewayFixture, { before = [], fault, until: sign }: Row): Promise<void> {
  for (const call of before) {
    const { status, body } = await send(gateway, call);
    assert.ok(status < 300, body);
  }
  if (fault !== undefined) await gateway.simulator.fault(fault.node, { kind: fault.kind } satisfies Fault);
  if (sign !== undefined) await shows(gateway, sign);
}

async function send(gateway: GatewayFixture, { call, body, headers = {} }: Call): Promise<HttpAnswer> {
  const [method = "", path = ""] = call.split(" ");
  return gateway.request(path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: await filled(gateway, body) }),
  });
}

/** Inserts values that a table cannot contain: a future time, and the name of the synchronous replica. */
async function filled(gateway: GatewayFixture, body: unknown): Promise<unknown> {
  const text = JSON.stringify(body);
  const { sync } = gateway.simulator.model() as { readonly sync: readonly string[] };
  const other = ["pg2", "pg3"].find((name) => !sync.includes(name)) ?? "";
  const future = new Date(Date.now() + 3_600_000).toISOString();
  const replaced = text
    .replace("{FUTURE}", future)
    .replace("{SYNC}", sync[0] ?? "")
    .replace("{ASYNC}", other);
  return JSON.parse(replaced) as unknown;
}

function shows(gateway: GatewayFixture, { path, status, says = "" }: Sign): Promise<true> {
  return until(`${path} with ${status ?? "any status"} ${says}`, async () => {
    const answer = await sendRequest(`${gateway.checksUrl}${path}`);
    return (status === undefined || answer.status === status) && new RegExp(says).test(answer.body) ? true : undefined;
  });
}
