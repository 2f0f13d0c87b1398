/** What the main process opens in the place of the workers, and when. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test, type TestContext } from "node:test";
import { pino } from "pino";
import type { ListenerConfig } from "../../../src/core/config/model/config.ts";
import type { BindTarget } from "../../../src/core/http/listener/bind-target.ts";
import { ListenerSet } from "../../../src/core/http/listener/listener-set.ts";
import { StandIn } from "../../../src/core/workers/stand-in.ts";
import { listenerOf } from "../../fake/config.ts";
import { sendRequest } from "../../fake/http-request.ts";

const [one, two] = [listenerOf({}), listenerOf({ dialect: "exporter", cluster: "demo" })];

interface Fixture {
  readonly standIn: StandIn;
  readonly listeners: ListenerSet;
  readonly log: () => string;
}

/** @param socketOf the socket of a listener */
function standInOf(context: TestContext, socketOf: () => BindTarget): Fixture {
  const listeners = new ListenerSet({
    handlerFor:
      ({ dialect }) =>
      async () => ({ status: 200, phrase: "OK", headers: [], body: Buffer.from(dialect) }),
    eventsOf: () => ({ onError: () => {}, onFiles: () => {}, onRejected: () => {} }),
    listeningSocketOf: socketOf,
  });
  const stream = new PassThrough();
  let log = "";
  stream.on("data", (line: Buffer) => (log += line.toString()));
  const standIn = new StandIn({ log: pino({ base: null }, stream), listeners });
  context.after(() => standIn.close());
  return { standIn, listeners, log: () => log };
}

const anyPort = (): BindTarget => ({ address: "127.0.0.1", port: 0 });

function dialects({ listeners }: Fixture): string {
  return listeners.listeners.map(({ config: { dialect } }) => dialect).join();
}

/** More turns of the event loop than all changes take. */
async function changesMade(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}

// What the pool asks for in one turn of the event loop, what is open then, and what is logged.
const rows: readonly (readonly [
  asked: readonly (readonly ListenerConfig[] | "rest" | "close")[],
  open: string,
  lines: number,
])[] = [
  [["rest"], "", 0],
  [[[one]], "node", 1],
  [[[one, two]], "node,exporter", 1],
  [[[one], "rest"], "", 0],
  [[[one], "rest", [two]], "exporter", 1],
  [[[one], [one, two]], "node,exporter", 1],
  [[[one], "close"], "", 0],
];

for (const [asked, open, lines] of rows) {
  const words = asked.map((each) => (typeof each === "string" ? each : each.map(({ dialect }) => dialect).join("+")));
  test(`asked for ${words.join(", then ")}, it has ${open || "nothing"} open`, async (context) => {
    const fixture = standInOf(context, anyPort);
    for (const each of asked) {
      if (each === "rest") fixture.standIn.rest();
      else if (each === "close") await fixture.standIn.close();
      else void fixture.standIn.answerAt(each);
    }
    await changesMade();
    assert.equal(dialects(fixture), open);
    assert.equal(fixture.log().split("\n").length - 1, lines, fixture.log());
  });
}

test("the same listeners again change nothing, others keep the connections of those that stay", async (context) => {
  const fixture = standInOf(context, anyPort);
  const wanted = [one];
  void fixture.standIn.answerAt(wanted);
  await changesMade();
  const [opened] = fixture.listeners.listeners;
  void fixture.standIn.answerAt(wanted);
  void fixture.standIn.answerAt([one, two]);
  await changesMade();
  assert.equal(fixture.listeners.listeners[0]?.port, opened?.port);
  assert.equal((await sendRequest(`http://127.0.0.1:${opened?.port}/`)).body, "node");
});

test("a listener that cannot be opened is logged, and tried again when it is asked for again", async (context) => {
  let canOpen = false;
  const fixture = standInOf(context, () => {
    if (canOpen) return anyPort();
    throw new Error("no worker has shared the socket yet");
  });
  const wanted = [one];
  void fixture.standIn.answerAt(wanted);
  await changesMade();
  assert.equal(dialects(fixture), "");
  assert.match(fixture.log(), /the main process cannot: clients wait for the next worker/);
  assert.match(fixture.log(), /no worker has shared the socket yet/);
  canOpen = true;
  void fixture.standIn.answerAt(wanted);
  await changesMade();
  assert.equal(dialects(fixture), "node");
});
