/** `rolecall rehearse` with a real cluster, behind HAProxy with checks that rolecall answers. */
import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test, type TestContext } from "node:test";
import type { Result } from "../../src/cli/result/document.ts";
import { RolecallProcess } from "../fake/rolecall-process.ts";
import { assertResultDocument } from "../fake/result-document.ts";
import { until } from "../fake/until.ts";
import { beside, type Command } from "./lab/beside.ts";
import { Cluster } from "./lab/cluster.ts";
import { Haproxy } from "./lab/haproxy.ts";
import { ports } from "./lab/ports.ts";
import { psql } from "./lab/psql.ts";
import { Rolecall } from "./lab/rolecall.ts";

/** What the test reads of the document's data. */
interface Data {
  readonly leader: string;
  readonly schema_removed: boolean;
  readonly outage_ms: number;
  readonly phases: readonly {
    readonly phase: string;
    readonly node: string | null;
    readonly after_request_ms: number | null;
    readonly resolution_ms: number | null;
  }[];
  readonly writes: { readonly acknowledged: number; readonly lost: number };
  readonly servers: readonly { readonly node: string | null; readonly acknowledged: number }[];
}

for (const version of ["3.0.2", "4.1"] as const)
  beside(version, "rehearsals", (command) => scenarios(command, version));

/** With 4.1 only the rehearsal itself is tried: what is refused does not depend on the version. */
function scenarios(command: Command, version: "3.0.2" | "4.1"): void {
  const skip = version === "3.0.2" ? false : "tried with 3.0.2";
  let cluster: Cluster;
  let rolecall: Rolecall;
  let haproxy: Haproxy;

  before(async () => {
    cluster = await Cluster.start(command);
    rolecall = await Rolecall.start(cluster, { listener: { management: "on" } });
    haproxy = await Haproxy.start(cluster);
    await settled();
  });
  after(async () => {
    await haproxy?.stop();
    await rolecall?.stop();
    await cluster?.stop();
  });

  const start = (context: TestContext, args: readonly string[], port: number = ports.haproxyWrite): RolecallProcess => {
    const dsn = `postgresql://postgres@127.0.0.1:${port}/postgres`;
    const server = `http://127.0.0.1:${ports.rolecallAdmin}`;
    return new RolecallProcess(context, ["rehearse", "--server", server, "--dsn", dsn, "--yes", ...args]);
  };
  const document = async (run: RolecallProcess): Promise<Result> => {
    const code = await run.exit;
    const result = assertResultDocument(run.stdout);
    assert.equal(result.exit_code, code);
    return result;
  };
  const refusalOf = async (run: RolecallProcess): Promise<string> => {
    const { exit_code: code, diagnostics } = await document(run);
    assert.deepEqual([code, diagnostics.map(({ rule_id: id }) => id)], [2, ["RC140"]]);
    return diagnostics[0]?.message ?? "";
  };
  const schemas = async (): Promise<string | undefined> =>
    psql(ports.haproxyWrite, "select count(*) from pg_namespace where nspname like 'rolecall%'");
  /** A cluster that is whole for Patroni and for rolecall, behind a pool that takes writes. */
  const settled = async (): Promise<void> => {
    await cluster.whole();
    const leader = (await cluster.leader()).name;
    await until({ what: "a pool that leads to the leader", seconds: 30, evidence: () => rolecall.tail }, async () => {
      const isFit = (await rolecall.ask(leader, "/primary")).status === 200;
      const replicas = await cluster.replicas();
      const answers = await Promise.all(replicas.map(({ name }) => rolecall.ask(name, "/replica")));
      return isFit && answers.every(({ status }) => status === 200) && (await schemas()) !== undefined;
    });
  };

  test("measures a switchover by phase, loses no write, and leaves nothing behind", async (context) => {
    const leader = await cluster.leader();
    const [candidate] = await cluster.replicas();
    assert.ok(candidate !== undefined);
    const nodes = cluster.nodes.flatMap(({ name, databasePort }) => [
      "--node-dsn",
      `${name}=host=127.0.0.1 port=${databasePort} user=postgres dbname=postgres`,
    ]);
    const run = start(context, ["--candidate", candidate.name, "--max-outage", "30s", "--format", "json", ...nodes]);
    const result = await document(run);
    assert.equal(result.exit_code, 0, JSON.stringify(result.diagnostics));
    const data = result.data as Data;
    assert.deepEqual([data.leader, data.schema_removed, data.writes.lost], [leader.name, true, 0]);
    assert.ok(data.writes.acknowledged > 10 && data.outage_ms > 0);
    const at = new Map(data.phases.map((phase) => [phase.phase, phase]));
    for (const { phase, after_request_ms: ms } of data.phases) assert.ok(ms !== null && ms > 0, `${phase} was seen`);
    assert.deepEqual(
      [at.get("demoted")?.node, at.get("promoted")?.node, at.get("first_yes")?.node].join(),
      [leader.name, candidate.name, candidate.name].join(),
    );
    const order = ["demoted", "promoted", "first_yes", "switched", "first_write"];
    for (const [first, second] of order.slice(1).map((phase, index) => [order[index] ?? "", phase] as const)) {
      const [earlier, later] = [at.get(first), at.get(second)];
      // Each source is looked at only so often: the one that is looked at later may show the same promotion first.
      const slackMs = Math.max(earlier?.resolution_ms ?? 0, later?.resolution_ms ?? 0);
      const isInOrder = (earlier?.after_request_ms ?? Number.NaN) <= (later?.after_request_ms ?? Number.NaN) + slackMs;
      assert.ok(isInOrder, `${first}, ${second}: ${JSON.stringify(data.phases)}`);
    }
    assert.deepEqual(
      data.servers.map(({ node }) => node),
      [leader.name, candidate.name],
    );
    assert.equal(await schemas(), "0");
    console.log(
      JSON.stringify({
        outage: data.outage_ms,
        phases: data.phases.map((phase) => `${phase.phase} ${phase.after_request_ms}`),
      }),
    );
  });

  test("Ctrl-C in the middle of the switchover removes the schema", { skip }, async (context) => {
    await settled();
    const leader = await cluster.leader();
    const run = start(context, ["--format", "json"]);
    await until({ what: "the start of the switchover", seconds: 30 }, async () => {
      const { status } = await leader.ask("/leader");
      return status !== 200;
    });
    run.process.kill("SIGINT");
    const { exit_code: code, diagnostics, data } = await document(run);
    assert.deepEqual([code, diagnostics[0]?.rule_id, (data as Data).schema_removed], [2, "RC004", true]);
    await settled();
    assert.equal(await schemas(), "0");
  });

  test("refuses a pool that leads to replicas, to nothing, or does not admit the user", { skip }, async (context) => {
    await settled();
    const json = ["--format", "json"];
    assert.match(await refusalOf(start(context, json, ports.haproxyRead)), /in recovery: writes would go to a replica/);
    assert.match(await refusalOf(start(context, json, ports.haproxySoft)), /ECONNREFUSED/);
    const set =
      "set password_encryption = 'scram-sha-256'; drop role if exists guarded; create role guarded login password 'right'";
    assert.equal(await psql(ports.haproxyWrite, set), "");
    const file = join(cluster.folder, "password");
    writeFileSync(file, "wrong\n");
    chmodSync(file, 0o600);
    const guarded = [...json, "--dsn", `postgresql://guarded@127.0.0.1:${ports.haproxyWrite}/postgres`];
    const wrong = [...guarded, "--dsn-password-file", file];
    assert.match(await refusalOf(start(context, wrong)), /28P01 password authentication failed/);
    writeFileSync(file, "right\n");
    assert.match(await refusalOf(start(context, wrong)), /guarded may not make a schema in postgres/);
    assert.equal(await schemas(), "0");
  });

  test("refuses a paused cluster", { skip }, async (context) => {
    await cluster.configure({ pause: true });
    await until({ what: "a paused cluster", seconds: 20 }, async () => {
      const { body } = await rolecall.ask((await cluster.leader()).name, "/patroni");
      return /"pause": ?true/.test(body);
    });
    assert.match(await refusalOf(start(context, ["--format", "json"])), /demo is paused/);
    await cluster.configure({ pause: null });
  });
}
