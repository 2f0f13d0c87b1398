/** What becomes of a Service while the API server refuses, hangs, is slow or restarts, and how often it is asked meanwhile. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FakeApiServer, KubeCallReceived, Misbehaviour } from "../../../fake/fake-api-server.ts";
import { membersOf, servicesFixture } from "../../../fake/services-fixture.ts";
import { until } from "../../../fake/until.ts";

const status = (code: number, headers: Record<string, string> = {}): Misbehaviour => ({
  kind: "answer",
  status: code,
  body: JSON.stringify({ kind: "Status", code, message: `refused with ${code}` }),
  headers,
});

/** A failure of the API server that lasts for some calls, and what is seen of it. */
interface Row {
  readonly failure: string;
  readonly bad: Misbehaviour;
  /** Which calls fail. */
  readonly of: (call: KubeCallReceived) => boolean;
  /** How many of them fail before the server is well again. */
  readonly times: number;
  /** What rolecall says meanwhile; `null`: nothing, for it passes by itself. */
  readonly problem: RegExp | null;
  /** How many writes the server receives at most in all. */
  readonly writes: number;
  readonly also?: (server: FakeApiServer) => void;
}

const isWrite = ({ verb, resource }: KubeCallReceived): boolean => verb === "patch" && resource === "endpointslices";
const isAny = (): boolean => true;

const rows: readonly Row[] = [
  { failure: "401 once: the token was replaced", bad: status(401), of: isWrite, times: 1, problem: null, writes: 2 },
  { failure: "401 again and again", bad: status(401), of: isWrite, times: 6, problem: /refused with 401/, writes: 8 },
  { failure: "403", bad: status(403), of: isWrite, times: 4, problem: /refused with 403/, writes: 6 },
  { failure: "409: another one has written", bad: status(409), of: isWrite, times: 2, problem: null, writes: 4 },
  {
    failure: "429 with a time",
    bad: status(429, { "retry-after": "1" }),
    of: isWrite,
    times: 1,
    problem: /429/,
    writes: 2,
  },
  { failure: "500", bad: status(500), of: isWrite, times: 3, problem: /refused with 500/, writes: 5 },
  { failure: "503", bad: status(503), of: isWrite, times: 3, problem: /refused with 503/, writes: 5 },
  { failure: "a slow server", bad: { kind: "slow", ms: 150 }, of: isWrite, times: 3, problem: null, writes: 2 },
  {
    failure: "a server that hangs",
    bad: { kind: "hang" },
    of: isWrite,
    times: 2,
    problem: /no answer within 400 ms/,
    writes: 4,
  },
  {
    failure: "a restart: connections are reset",
    bad: { kind: "reset" },
    of: isAny,
    times: 8,
    problem: /connection|reach/,
    writes: 10,
  },
  {
    failure: "a restart, after which changes are forgotten (410)",
    bad: { kind: "reset" },
    of: isAny,
    times: 4,
    problem: /connection|reach/,
    writes: 8,
    also: (server) => server.compact(),
  },
];

describe("while the API server fails", () => {
  for (const { failure, bad, of, times, problem, writes, also } of rows)
    test(`${failure}: what is published stays, and is right afterwards`, async (context) => {
      const { server, rolecall, published, said } = await servicesFixture(context, 400);
      const { services, say } = rolecall("a");
      say(membersOf("10.0.0.1"));
      await published("10.0.0.1 by a");
      const problems = new Set<string>();
      let [failed, received] = [0, 0];
      server.misbehave = (call) => {
        if (isWrite(call)) received += 1;
        if (!of(call) || failed >= times) return null;
        failed += 1;
        assert.equal(said(), "10.0.0.1 by a");
        return bad;
      };
      if (also !== undefined) also(server);
      if (of === isAny) server.cutWatches();
      say(membersOf("10.0.0.2"));
      await until({ what: failure, evidence: () => `${said()}; ${[...problems].join("; ")}` }, () => {
        const found = services.publisherOf("orders")?.problem?.text;
        for (const text of [...(found === undefined ? [] : [found]), ...services.problems.map((one) => one.text)])
          problems.add(text);
        return said() === "10.0.0.2 by a" && failed >= Math.min(times, bad.kind === "slow" ? 1 : times);
      });
      const wrong = (): readonly (string | undefined)[] => [
        services.publisherOf("orders")?.problem?.text,
        ...services.problems.map((one) => one.text),
      ];
      await until(
        { what: "nothing is wrong any more", evidence: () => `${wrong().join("; ")}; ${server.watches} watches` },
        () => wrong().every((text) => text === undefined),
      );
      const told = [...problems].join("; ");
      if (problem === null) assert.equal(told, "");
      else assert.match(told, problem);
      assert.ok(received <= writes, `${received} writes`);
    });
});
