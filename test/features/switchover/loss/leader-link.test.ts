import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import { describe, test, type TestContext } from "node:test";
import { LeaderLink } from "../../../../src/features/switchover/loss/leader-link.ts";
import { listenDuringTest } from "../../../fake/listen.ts";
import { until } from "../../../fake/until.ts";

interface Fixture {
  readonly link: LeaderLink;
  readonly sockets: Socket[];
  readonly server: Server;
  readonly address: { readonly host: string; readonly port: number };
  readonly ends: () => number;
  /** Runs the timer that was set last. */
  readonly fire: () => void;
  readonly delays: readonly number[];
}

async function fixtureOf(context: TestContext, answer: string | null = "N"): Promise<Fixture> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.once("data", (request: Buffer) => {
      assert.deepEqual([...request], [0, 0, 0, 8, 4, 210, 22, 47]);
      if (answer !== null) socket.write(answer);
    });
  });
  const port = await listenDuringTest(context, server);
  context.after(() => sockets.forEach((socket) => socket.destroy()));
  let ends = 0;
  const delays: number[] = [];
  let timer: (() => void) | null = null;
  const link = new LeaderLink({
    setTimer: (callback, delayMs) => {
      delays.push(delayMs);
      timer = callback;
      return () => {
        if (timer === callback) timer = null;
      };
    },
    onEnd: () => {
      ends += 1;
    },
  });
  context.after(() => link.close());
  const fire = (): void => timer?.();
  return { link, sockets, server, address: { host: "127.0.0.1", port }, ends: () => ends, fire, delays };
}

describe("the connection to the leader's database", () => {
  test("stands behind its request for TLS, and tells when the server ends it", async (context) => {
    const { link, sockets, address, ends } = await fixtureOf(context);
    link.follow(address);
    await until("the connection", () => link.stands);
    sockets[0]?.end();
    await until("its end", () => ends() === 1);
    assert.equal(link.stands, false);
  });

  test("tells when it is reset", async (context) => {
    const { link, sockets, address, ends } = await fixtureOf(context, "S");
    link.follow(address);
    await until("the connection", () => link.stands);
    sockets[0]?.resetAndDestroy();
    await until("its end", () => ends() === 1);
  });

  test("is renewed before PostgreSQL ends it, and tells nothing then", async (context) => {
    const { link, sockets, address, ends, fire, delays } = await fixtureOf(context);
    link.follow(address);
    await until("the connection", () => link.stands);
    assert.equal(delays.at(-1), 50_000);
    fire();
    await until("the next one", () => sockets.length === 2 && sockets[0]?.closed === true);
    assert.deepEqual([link.stands, ends()], [true, 0]);
  });

  test("that cannot be made tells nothing, and is tried again each second", async (context) => {
    const { link, sockets, address, ends, fire, delays } = await fixtureOf(context, null);
    link.follow(address);
    await until("the attempt", () => sockets.length === 1);
    sockets[0]?.destroy();
    await until("its failure", () => delays.at(-1) === 1_000);
    fire();
    await until("another one", () => sockets.length === 2);
    fire();
    assert.deepEqual([link.stands, ends(), delays.at(-1)], [false, 0, 1_000]);
  });

  test("goes to the next leader, and tells nothing of the one before", async (context) => {
    const first = await fixtureOf(context);
    const second = await fixtureOf(context);
    first.link.follow(first.address);
    await until("the connection", () => first.link.stands);
    first.link.follow(second.address);
    await until("the end of the first", () => first.sockets[0]?.closed === true);
    await until("the second", () => first.link.stands && second.sockets.length === 1);
    first.link.follow(null);
    await until("the end of the second", () => second.sockets[0]?.closed === true);
    assert.equal(first.ends(), 0);
  });
});
