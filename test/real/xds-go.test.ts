/**
 * The conversations of test/spec/xds/protocol.yaml with a client that shares no code with rolecall: its messages are
 * those that go-control-plane generates, its gRPC is Go's.
 */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, describe, it, test } from "node:test";
import { GrpcServer } from "../../src/features/xds/grpc-server.ts";
import { encodeAssignment } from "../../src/features/xds/messages/codec.ts";
import type { PublishedPool } from "../../src/features/xds/pool-assignments.ts";
import { endpointsType, type XdsForm } from "../../src/features/xds/protocol/xds-messages.ts";
import { type StreamRefusal, XdsStream } from "../../src/features/xds/xds-stream.ts";
import { portOf } from "../fake/listen.ts";
import { temporaryFolder } from "../fake/temporary-folder.ts";
import { until } from "../fake/until.ts";
import { type ConversationStep, conversations } from "../features/xds/conversation.ts";
import { publishedPool } from "../features/xds/published-pool.ts";
import { buildGoClient, GoClient } from "./lab/xds-client-go.ts";
import { SharedNames } from "../../src/features/xds/protocol/shared-names.ts";

/** Pools whose only endpoint has the version as its name, served to streams by gRPC. */
class Host {
  readonly pools = new Map<string, PublishedPool>();
  readonly refusals: (StreamRefusal | null)[] = [];
  readonly errors: unknown[] = [];
  readonly server: GrpcServer;
  stream: XdsStream | null = null;
  sent = 0;

  constructor() {
    this.server = new GrpcServer({
      instance: () => "i1",
      onError: (error) => this.errors.push(error),
      open: (wire) => {
        const send: typeof wire.send = (response) => {
          this.sent += 1;
          return wire.send(response);
        };
        const stream = new XdsStream(
          { form: wire.form, peer: wire.peer, send },
          {
            has: (name) => this.pools.has(name),
            names: new SharedNames(),
            of: (name) => this.pools.get(name),
            published: () => this.pools.values(),
            versions: () => new Map([...this.pools].map(([name, { version }]) => [name, version])),
            mayGo: () => true,
            encoded: ({ pool, assignment }) => encodeAssignment(pool.name, assignment, null),
          },
        );
        this.stream = stream;
        return {
          receive: (request) => void this.refusals.push(stream.receive(request, 0)),
          drained: () => stream.drained(0),
          ended: () => {},
        };
      },
    });
  }

  /** Publishes these versions. @returns those that have changed */
  set(versions: Readonly<Record<string, string | null>>): readonly PublishedPool[] {
    return Object.entries(versions).flatMap(([name, version]) => {
      this.pools.delete(name);
      if (version === null) return [];
      const endpoint = { node: version, host: "10.0.0.1", port: 5432, isHealthy: true, weight: null, zone: null };
      const pool = publishedPool({ name, version, assignment: { endpoints: [endpoint] } });
      this.pools.set(name, pool);
      return [pool];
    });
  }
}

const folder = temporaryFolder("rolecall-xds-go-");
const built = buildGoClient(folder);
if ("notRun" in built) test("xDS with a client in Go", { skip: `not run: ${built.notRun}` }, () => {});
else suiteWith(built.file);

function suiteWith(file: string): void {
  describe("xDS with a client in Go", () => {
    const host = new Host();
    const listening = createServer((socket) => {
      socket.on("error", () => {});
      host.server.accept(socket);
    });
    let client: GoClient;
    before(async () => {
      await new Promise<void>((resolve) => void listening.listen(0, "127.0.0.1", resolve));
      client = new GoClient(file, `127.0.0.1:${portOf(listening)}`);
    });
    after(() => {
      client.stop();
      host.server.close();
      listening.close();
    });

    for (const service of ["ads", "eds"])
      for (const { title, form, pools, steps } of conversations)
        it(`${service} ${form}: ${title}`, async () => {
          host.pools.clear();
          host.set(pools);
          client.open(`${service} ${form}`);
          for (const [at, step] of steps.entries()) await play(host, client, { form, step, what: `step ${at + 1}` });
          assert.deepEqual(host.errors, []);
        });
  });
}

async function play(
  host: Host,
  client: GoClient,
  { form, step, what }: { readonly form: XdsForm; readonly step: ConversationStep; readonly what: string },
): Promise<void> {
  const { request, change, answer = {}, refused = null } = step;
  const readBefore = client.responses.length;
  if (change !== undefined) host.stream?.update(host.set(change), 0);
  if (request !== undefined) {
    const received = host.refusals.length;
    client.send({ type: endpointsType, ...request });
    await until({ what: `the request of ${what}` }, () => host.refusals.length > received || undefined);
    assert.equal(host.refusals.at(-1)?.problem ?? null, refused, what);
  }
  // The host has answered synchronously: what it has sent by now is all that comes.
  await client.received(host.sent);
  const read = client.responses.slice(readBefore);
  assert.deepEqual(Object.assign({}, ...read.map((response) => response.pools)), answer, what);
  for (const { type, pools, versions } of read) {
    assert.equal(type, endpointsType);
    if (form === "delta") assert.deepEqual(versions, pools);
  }
}
