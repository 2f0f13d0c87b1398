import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hostileXdsClients, seeded } from "../../fake/hostile-xds-clients.ts";
import { until } from "../../fake/until.ts";
import { assignmentType } from "../../fake/xds-client.ts";
import { xdsFixture, type XdsFixture } from "./xds-fixture.ts";

/** What each kind of client does at least. HOSTILE_XDS sets another number: 100000 by hand. */
const acts = Number(process.env["HOSTILE_XDS"] ?? 300);
const seed = Number(process.env["HOSTILE_SEED"] ?? 7);

/** A client that behaves well, on a connection of its own, gets an answer. */
async function answers({ connect }: XdsFixture): Promise<void> {
  const stream = connect("ads delta");
  stream.send({ node: { id: "good" }, type_url: assignmentType, resource_names_subscribe: ["write"] });
  const { resources } = await stream.next();
  assert.equal(resources.length, 1);
  stream.close();
}

describe("hostile clients of a listener with the dialect xds", { timeout: 600_000 }, () => {
  for (const [kind, attack] of Object.entries(hostileXdsClients))
    it(`${kind} cost their own streams, and nothing stays`, async (context) => {
      const written = context.mock.method(console, "error", () => {});
      const fixture = await xdsFixture(context);
      const port = Number(fixture.address.split(":")[1]);
      let count = 0;
      const isOver = (): boolean => count >= acts;
      const attacking = attack({ port, random: seeded(seed), isOver, count: (much) => (count += much) });
      await answers(fixture);
      await attacking;
      await answers(fixture);
      await until(
        { what: "the end of all streams", seconds: 30 },
        () => fixture.counts.get("xdsStreams") === 0 || undefined,
      );
      assert.deepEqual(fixture.service.statuses(null), []);
      assert.deepEqual(fixture.errors, []);
      assert.equal(written.mock.callCount(), 0, "lines that no limit counts");
      assert.ok(fixture.lines.length <= 21, "lines about Envoys are limited");
      for (const line of fixture.lines) {
        assert.ok(line.length < 3_000, "a line is short");
        // oxlint-disable-next-line no-control-regex -- these are what a line may not hold
        assert.doesNotMatch(line.trimEnd(), /[\u0000-\u001f\u007f-\u009f\u202e]/, "a terminal shows it as it is");
      }
    });

  it("a compressed request is refused before it is inflated", async (context) => {
    const fixture = await xdsFixture(context);
    const stream = fixture.connect("ads sotw", { "grpc.default_compression_algorithm": 2 });
    stream.send({ node: { id: "e".repeat(10_000) }, type_url: assignmentType, resource_names: ["write"] });
    await until({ what: "the end of the stream" }, () => stream.ended ?? undefined);
    assert.match(stream.ended ?? "", /UNIMPLEMENTED/);
  });

  it("requests of 1 MB wait for each other, and small ones do not wait for them", async (context) => {
    const fixture = await xdsFixture(context);
    const large = Array.from({ length: 20 }, () => fixture.connect("ads sotw"));
    for (const [at, stream] of large.entries())
      stream.send({
        node: { id: `${at} ${"e".repeat(1_000_000)}` },
        type_url: assignmentType,
        resource_names: ["write", "\u001b[2J"],
      });
    await answers(fixture);
    for (const stream of large) await stream.next();
    const statuses = fixture.service.statuses(null);
    assert.ok(statuses.every(({ balancer }) => balancer.length <= 128));
    assert.equal(statuses[0]?.problems[0]?.subject, "pool \ufffd[2J");
  });
});
