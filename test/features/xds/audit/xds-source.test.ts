/** Envoys that do not take what the listener sends them: by a refusal, or by silence. */
import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { xdsTarget } from "../../../../src/features/xds/audit/xds-target.ts";
import { RouteAudit } from "../../../../src/features/audit/route-audit.ts";
import { listenerOf } from "../../../fake/config.ts";
import { ManualClock } from "../../../fake/manual-clock.ts";
import { until } from "../../../fake/until.ts";
import { assignmentType, type WireResponse, type XdsClientStream } from "../../../fake/xds-client.ts";
import { poolOf, xdsFixture } from "../xds-fixture.ts";

const names = ["write", "read"];

/** An audit, at a clock that the test moves, of a listener with one Envoy, which has taken its first assignments. */
class XdsAudit {
  readonly clock = new ManualClock();
  readonly stream: XdsClientStream;
  readonly #fixture: Awaited<ReturnType<typeof xdsFixture>>;
  readonly #audit: RouteAudit;

  static async start(context: TestContext): Promise<XdsAudit> {
    const audit = new XdsAudit(await xdsFixture(context));
    context.after(() => audit.#audit.stop());
    audit.stream.send({ node: { id: "edge-1" }, type_url: assignmentType, resource_names: names });
    audit.answer(await audit.stream.next());
    await audit.states("has", "has");
    return audit;
  }

  private constructor(fixture: Awaited<ReturnType<typeof xdsFixture>>) {
    const { clock } = this;
    const { cluster, service, connect } = fixture;
    this.#fixture = fixture;
    this.stream = connect("ads sotw");
    this.#audit = new RouteAudit({
      cluster: () => cluster.state(),
      policy: (name) => cluster.store.policyOf(name),
      now: () => clock.nowMs,
      scope: { setTimer: (run, ms) => clock.setTimer(run, ms), signal: new AbortController().signal },
      resolve: () => ({ ips: [], atMs: 0, isPending: false }),
      onChange: () => {},
      onError: (_, error) => assert.fail(String(error)),
    });
    const listener = listenerOf({
      dialect: "xds",
      port: 8010,
      xds: { checksAt: null, cutMs: 2_000, staleAfterMs: null, envoys: [] },
    });
    const pools = [poolOf("write", "primary"), poolOf("read", "replica")];
    const target = xdsTarget(listener, pools, (name) =>
      name === service.name ? service.lackingAcknowledgements() : [],
    );
    this.#audit.configure(target === null ? [] : [target], 5_000);
  }

  /** @param refusal why it does not take the response; `null`: it does */
  answer({ nonce, version_info: version }: WireResponse, refusal: string | null = null): void {
    const answered = refusal === null ? { version_info: version } : { error_detail: { message: refusal } };
    this.stream.send({ type_url: assignmentType, resource_names: names, response_nonce: nonce, ...answered });
  }

  /** The primary stops leading, or leads again. */
  lead(isLeading: boolean): Promise<WireResponse> {
    this.#fixture.cluster.nowMs += 500;
    this.#fixture.cluster.recordReport("pg1", 2_000, isLeading);
    return this.stream.next();
  }

  /** Waits until the Envoy has answered so, by pool. */
  async states(...wanted: readonly string[]): Promise<void> {
    await until(`the states ${wanted.join()}`, () => {
      const lacking = [...this.#fixture.service.lackingAcknowledgements()].flat();
      return lacking.map(({ state }) => state).join() === wanted.filter((state) => state !== "has").join();
    });
  }

  get found(): readonly string[] {
    return this.#audit
      .findings("demo")
      .map(({ kind, target, backend, what }) => `${kind} ${target} ${backend ?? "-"} ${what}`);
  }
}

suite("an Envoy that rolecall pushes to", () => {
  for (const [title, refusal, state, why] of [
    ["refuses an assignment", "malformed IP", "refused", " (malformed IP)"],
    ["does not answer", null, "waits", ""],
  ] as const)
    test(`${title}: found after 5 s, until it takes one`, async (context) => {
      const audit = await XdsAudit.start(context);
      await audit.clock.pass(6_000);
      assert.deepEqual(audit.found, []);
      const sent = await audit.lead(false);
      if (refusal !== null) audit.answer(sent, refusal);
      await audit.states(state, "has");
      // It is looked at every 5 s: the first look that sees it does not know how long it has been so.
      await audit.clock.pass(9_400);
      assert.deepEqual(audit.found, []);
      await audit.clock.pass(200);
      assert.deepEqual(audit.found, [
        `unreachable xds 127.0.0.1:8010 write was not taken by edge-1${why}: new connections go where they went before`,
      ]);
      await audit.clock.pass(20_000);
      assert.equal(audit.found.length, 1);
      audit.answer(refusal === null ? sent : await audit.lead(true));
      await audit.states("has", "has");
      await audit.clock.pass(5_000);
      assert.deepEqual(audit.found, []);
    });

  test("leaves while it lacks an assignment: nothing of it is found any more", async (context) => {
    const audit = await XdsAudit.start(context);
    await audit.lead(false);
    await audit.states("waits", "has");
    await audit.clock.pass(11_000);
    assert.equal(audit.found.length, 1);
    audit.stream.close();
    await audit.states();
    await audit.clock.pass(5_000);
    assert.deepEqual(audit.found, []);
  });
});
