import assert from "node:assert/strict";
import { Duplex, PassThrough } from "node:stream";
import { test } from "node:test";
import { ReadingTurns } from "../../../src/core/http/admission/reading-turns.ts";
import { PacedConnection } from "../../../src/features/xds/paced-connection.ts";
import { assignmentType } from "../../fake/xds-client.ts";
import { xdsFixture } from "./xds-fixture.ts";

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("what a connection sends at once goes on in small pieces, each in a turn of the event loop", async () => {
  const accepted = new PassThrough({ autoDestroy: false });
  const paced = new PacedConnection(accepted, new ReadingTurns(() => 0, 0));
  const sent = Buffer.from(Array.from({ length: 8_192 }, (_, at) => at % 251));
  const pieces: Buffer[] = [];
  let inTurn = 0;
  paced.on("data", (piece: Buffer) => {
    pieces.push(piece);
    inTurn += piece.length;
  });
  accepted.end(sent);
  for (let turns = 0; Buffer.concat(pieces).length < sent.length; turns += 1) {
    assert.ok(turns < 1_000, "it comes to an end");
    inTurn = 0;
    await turn();
    assert.ok(inTurn <= 512, `${inTurn} bytes in one turn`);
  }
  assert.deepEqual(Buffer.concat(pieces), sent);
  if (!paced.readableEnded) await new Promise((resolve) => void paced.once("end", resolve));
});

test("a connection that sends much does not keep another one waiting", async () => {
  const turns = new ReadingTurns(() => 0, 0);
  const [much, little] = [new PassThrough(), new PassThrough()];
  let received = 0;
  new PacedConnection(much, turns).on("data", (piece: Buffer) => (received += piece.length));
  const first = new Promise((resolve) => void new PacedConnection(little, turns).once("data", resolve));
  much.write(Buffer.alloc(1_000_000));
  little.write("hello");
  await first;
  assert.ok(received <= 2_048, `${received} bytes came before`);
  for (const each of [much, little]) each.destroy();
});

test("what is written, an end and a cut reach the connection", async () => {
  const written: string[] = [];
  const accepted = new Duplex({
    read: () => {},
    write: (chunk: Buffer, _, done) => {
      written.push(chunk.toString());
      done();
    },
  });
  const paced = new PacedConnection(accepted, new ReadingTurns(() => 0, 0));
  paced.write("answer");
  await turn();
  assert.deepEqual(written, ["answer"]);
  paced.destroy();
  await turn();
  assert.equal(accepted.destroyed, true);
});

test("500 Envoys that connect at once all get their first answer", { timeout: 120_000 }, async (context) => {
  const fixture = await xdsFixture(context);
  const streams = Array.from({ length: 500 }, () => fixture.connect("ads delta"));
  for (const [at, stream] of streams.entries())
    stream.send({ node: { id: `envoy-${at}` }, type_url: assignmentType, resource_names_subscribe: ["write"] });
  for (const stream of streams) assert.equal((await stream.next()).resources.length, 1);
  for (const stream of streams) stream.close();
  assert.deepEqual(fixture.errors, []);
});
