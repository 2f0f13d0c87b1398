import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { startSimulator, type Simulator } from "../../../src/tools/simulator/simulator.ts";
import { runJson, runText } from "../../fake/command-line.ts";
import { openFakeCluster } from "../../fake/fake-node.ts";
import { until } from "../../fake/until.ts";

/** The fields of the data of check and explain that this is about. */
interface Answer {
  readonly fit: boolean | null;
  readonly reason: string | null;
  readonly attachment: string | null;
  readonly node: string;
}

suite("commands that probe the nodes themselves", { timeout: 120_000 }, () => {
  let simulator: Simulator;
  let source: readonly string[];

  // pg3 was detached so long ago that its sender no longer lists it. pg2 is sound.
  before(async () => {
    let aheadMs = 0;
    simulator = await startSimulator({ nodes: 3, port: 0, nowMs: () => Date.now() + aheadMs });
    await simulator.fault("pg3", { kind: "detach" });
    aheadMs = 70_000;
    await until("a sender list without pg3", async () => {
      const document = (await (await fetch(`${simulator.nodes[0]?.url}/patroni`)).json()) as {
        replication?: unknown[];
      };
      return document.replication?.length === 1;
    });
    const seeds = simulator.nodes.map(({ url }) => url).join(",");
    source = ["--discover", seeds, "--set", "probe.interval=200ms", "--set", "guards.attach_window=2s"];
  });
  after(() => simulator.stop());

  for (const command of ["check", "explain"]) {
    test(`${command} does not call a detached replica fit after one look, and says that it does not know`, async () => {
      const argv = [command, "/replica", "--node", "pg3", "--for", "0s", ...source];
      const { data, exit_code: code, diagnostics } = await runJson(argv);
      const { fit, attachment } = data as Answer;
      assert.deepEqual([fit, attachment, code], [null, "not known", 2]);
      assert.deepEqual(
        diagnostics.map(({ rule_id: id }) => id),
        ["RC032"],
      );
      const { out } = await runText(argv);
      assert.match(out, /not known/);
      assert.match(out, /seen once/);
    });

    test(`${command} calls it detached after attach_window, and by default watches for that`, async () => {
      for (const time of [["--for", "12s"], []]) {
        const { data, exit_code: code } = await runJson([command, "/replica", "--node", "pg3", ...time, ...source]);
        const { fit, reason } = data as Answer;
        assert.deepEqual([fit, reason, code], [false, "detached", 1]);
      }
    });

    test(`${command} calls a sound replica fit as soon as it advances`, async () => {
      for (const time of [["--for", "12s"], []]) {
        const { data, exit_code: code } = await runJson([command, "/replica", "--node", "pg2", ...time, ...source]);
        const { fit, attachment } = data as Answer;
        assert.deepEqual([fit, attachment, code], [true, "known", 0]);
      }
    });

    test(`${command} decides at once what does not depend on attachment`, async () => {
      for (const [node, route, guards, expected] of [
        ["pg1", "/primary", [], true],
        ["pg1", "/read-only", [], true],
        ["pg2", "/primary", [], false],
        ["pg3", "/health", [], true],
        ["pg3", "/replica", ["--set", "guards.attached_replica=false"], true],
        ["pg3", "/replica?replication_state=in+archive+recovery", [], false],
      ] as const) {
        const { data } = await runJson([command, route, "--node", node, "--for", "0s", ...source, ...guards]);
        const { fit, attachment } = data as Answer;
        assert.deepEqual([fit, attachment ?? null], [expected, null], `${route} of ${node}`);
      }
    });
  }

  test("a check of the whole cluster is fit if one replica is known to be attached", async () => {
    const { data, exit_code: code } = await runJson(["check", "/replica", ...source]);
    const { fit, attachment, node } = data as Answer;
    assert.deepEqual([fit, attachment, node, code], [true, "known", "pg2", 0]);
    assert.equal((await runJson(["check", "/primary", "--for", "0s", ...source])).exit_code, 0);
  });

  test("a check of the whole cluster reports the verdict of the node that is certainly fit", async (context) => {
    const nodes = await openFakeCluster(context, ["pg1", "pg2", "pg3"]);
    for (const [at, node] of nodes.entries()) node.fields = { xlog: { location: 9_000 - 1_000 * at } };
    const [pg1, , pg3] = nodes;
    assert.ok(pg1 !== undefined && pg3 !== undefined);
    pg3.fields = { ...pg3.fields, tags: { nostream: true } };
    const cluster = ["--discover", pg1.api, "--cluster", "demo", "--for", "0s"];
    const { data } = await runJson(["check", "/replica?lag=500&keep=2", ...cluster]);
    const { fit, attachment, node, degraded } = data as Answer & { readonly degraded: boolean };
    assert.deepEqual({ fit, attachment, node, degraded }, { fit: true, attachment: null, node: "pg3", degraded: true });
  });

  test("status marks what one look cannot show, and what it knows with --for", async () => {
    const once = await runText(["status", ...source]);
    assert.match(once.out, /pg3 .* replica\? .*attachment not known: seen once/);
    const first = await attachments(["status", ...source]);
    assert.equal(first["pg3"]?.attachment, "not known");
    assert.equal(first["pg3"]?.verdicts["replica"], "not known");
    assert.equal(first["pg3"]?.verdicts["health"], "fit");
    const later = await attachments(["status", "--for", "12s", ...source]);
    assert.deepEqual(
      ["pg1", "pg2", "pg3"].map((name) => [later[name]?.attachment, later[name]?.verdicts["replica"]]),
      [
        [null, "wrong_role"],
        ["known", "fit"],
        [null, "detached"],
      ],
    );
  });

  test("--for must be a duration", async () => {
    assert.equal((await runText(["check", "/replica", "--node", "pg2", "--for", "soon", ...source])).code, 2);
  });
});

async function attachments(
  argv: readonly string[],
): Promise<Record<string, { readonly attachment: string | null; readonly verdicts: Record<string, string> }>> {
  const { data } = await runJson(argv);
  const { clusters } = data as {
    clusters: { nodes: { node: string; attachment: string | null; verdicts: Record<string, string> }[] }[];
  };
  return Object.fromEntries(clusters.flatMap(({ nodes }) => nodes.map((row) => [row.node, row])));
}
