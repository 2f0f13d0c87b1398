/**
 * The rendered scrape configuration, rules and dashboard in a real Prometheus that scrapes a real rolecall: every query
 * returns data, a planned switchover causes no alert, and two claims cause theirs.
 */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parse, stringify } from "yaml";
import { startSimulator, type Simulator } from "../../src/tools/simulator/simulator.ts";
import { CertificateAuthority } from "../fake/certificates.ts";
import { runText } from "../fake/command-line.ts";
import { freePort } from "../fake/free-port.ts";
import { until } from "../fake/until.ts";
import { ask } from "./lab/ask.ts";
import { Child } from "./lab/child.ts";
import { removeAtExit } from "./lab/reaper.ts";
import { program } from "./lab/rolecall.ts";

const prometheus = "/usr/bin/prometheus";
const skip = existsSync(prometheus) ? false : `not run: ${prometheus} is missing`;

interface Target {
  readonly expr: string;
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly Target[] }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

describe("monitoring with a real Prometheus", { skip, timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-monitoring-"));
  const authority = new CertificateAuthority();
  const stops: (() => unknown)[] = [() => authority.remove()];
  let simulator: Simulator;
  let health: number;
  let api: number;
  let tail: () => string;

  before(async () => {
    removeAtExit(folder);
    simulator = await startSimulator({ nodes: 3, port: 0 });
    stops.unshift(() => simulator.stop());
    const [one, another, tls] = [await freePort(), await freePort(), await freePort()];
    health = await freePort();
    api = await freePort();
    authority.issue("rolecall");
    const tlsFiles = { cert: join(authority.folder, "rolecall.pem"), key: join(authority.folder, "rolecall.key") };
    const config = join(folder, "rolecall.yaml");
    const nodes = simulator.nodes.map(({ name, url }) => ({ name, api: url, database: "127.0.0.1:5432" }));
    // Two admin listeners stand for two instances: both export the metrics of all nodes.
    const listen = [
      { port: health },
      { port: one, dialect: "admin" },
      { port: another, dialect: "admin" },
      { port: tls, tls: tlsFiles },
    ];
    writeFileSync(config, JSON.stringify({ clusters: [{ name: "demo", nodes }], listen })); // JSON is YAML
    const serve = [process.execPath, program, "serve", "--config", config] as const;
    const rolecall = new Child({ name: "rolecall", command: serve, folder });
    stops.unshift(() => rolecall.stop("SIGKILL"));
    const admins = `127.0.0.1:${one},127.0.0.1:${another}`;
    const scrape = await rendered(["prometheus", "--config", config, "--admin", admins, "--node-metrics", "rolecall"]);
    writeFileSync(
      join(folder, "rolecall-rules.yml"),
      (await rendered(["alerts"])).replaceAll("interval: 15s", "interval: 1s"),
    );
    const {
      scrape_configs: [job],
      ...rest
    } = parse(scrape) as { scrape_configs: readonly object[] };
    const file = join(folder, "prometheus.yml");
    writeFileSync(
      file,
      stringify({ ...rest, scrape_configs: [{ ...job, scrape_interval: "1s", scrape_timeout: "1s" }] }),
    );
    const options = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, "data")}`];
    const command = [prometheus, ...options, `--web.listen-address=127.0.0.1:${api}`] as const;
    const server = new Child({ name: "prometheus", command, folder });
    stops.unshift(() => server.stop("SIGKILL"));
    tail = () => `${server.tail}\n${rolecall.tail}`;
    await until({ what: "samples of a rate", seconds: 40, evidence: tail }, async () => {
      await ask({ port: health, path: "/clusters/demo/nodes/pg1/primary" });
      return (await query("sum(rate(rolecall_snapshots_total[10s])) > 0")).length > 0;
    });
  });
  after(async () => {
    for (const stop of stops) await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("every query of the dashboard returns data", async () => {
    const dashboard = JSON.parse(await rendered(["dashboard"])) as Dashboard;
    const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
    assert.ok(queries.length > 25);
    for (const { title, expr } of queries) {
      const filled = expr
        .replaceAll("$cluster", "demo")
        .replaceAll("$instance", ".*")
        .replaceAll("$__rate_interval", "10s");
      await until({ what: `data of ${title}: ${filled}`, seconds: 15, evidence: tail }, async () => {
        return (await query(filled)).length > 0;
      });
    }
    for (const { definition } of dashboard.templating.list) {
      if (definition === undefined) continue;
      const [, series = "", label = ""] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
      assert.ok((await query(`count by (${label}) (${series})`)).length > 0, definition);
    }
  });

  test("every rule is evaluated without an error", async () => {
    const rules = await rulesOf();
    assert.ok(rules.length > 30);
    await until({ what: "evaluation of every rule", seconds: 15, evidence: tail }, async () =>
      (await rulesOf()).every(({ health: state }) => state !== "unknown"),
    );
    assert.deepEqual(
      (await rulesOf()).filter(({ health: state }) => state !== "ok"),
      [],
    );
  });

  test("the metrics of the nodes have one source, although every instance exports them", async () => {
    const [sum] = await query("sum by (scope) (patroni_primary)");
    assert.equal(sum?.value[1], "1");
    assert.equal((await query("count by (instance) (rolecall_node_up)")).length, 2);
  });

  test("a planned switchover causes no alert", async () => {
    const [leader] = simulator.nodes;
    const port = Number(new URL(leader?.url ?? "").port);
    const body = { leader: "pg1", candidate: "pg2" };
    const reply = await ask({ port, path: "/switchover", method: "POST", body, deadlineMs: 20_000 });
    assert.equal(reply.status, 200, reply.body);
    // Alerts are looked at all the time, until the switchover has been over for 5 s.
    const fired = new Set<string>();
    await until({ what: "pg2 as primary for 5 s", seconds: 40, evidence: tail }, async () => {
      for (const name of await firing()) fired.add(name);
      const settled = 'min_over_time(rolecall_node_fit{node="pg2",check="primary"}[5s]) == 1';
      return (await query(settled)).length === 2;
    });
    // The certificates of the tests are valid for two days.
    assert.deepEqual([...fired], ["RolecallCertificateExpiresNow"]);
  });

  test("two nodes that claim the lock cause the alert of conflicting claims", async () => {
    await simulator.fault("pg3", { kind: "claim" });
    await until({ what: "RolecallClaimsConflict", seconds: 30, evidence: tail }, async () =>
      (await firing()).includes("RolecallClaimsConflict"),
    );
  });

  async function api1<T>(path: string): Promise<T> {
    const { status, body } = await ask({ port: api, path: `/api/v1/${path}`, deadlineMs: 5_000 });
    return (status === 200 ? JSON.parse(body).data : {}) as T;
  }

  async function query(expr: string): Promise<readonly { readonly value: readonly [number, string] }[]> {
    const { result } = await api1<{ readonly result?: readonly { readonly value: readonly [number, string] }[] }>(
      `query?query=${encodeURIComponent(expr)}`,
    );
    return result ?? [];
  }

  async function rulesOf(): Promise<readonly { readonly name: string; readonly health: string }[]> {
    type Groups = {
      readonly groups?: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[];
    };
    const { groups = [] } = await api1<Groups>("rules");
    return groups.flatMap(({ rules }) => rules);
  }

  async function firing(): Promise<readonly string[]> {
    type Alerts = {
      readonly alerts?: readonly { readonly state: string; readonly labels: Readonly<Record<string, string>> }[];
    };
    const { alerts = [] } = await api1<Alerts>("alerts");
    return alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels["alertname"] ?? "");
  }
});

async function rendered(args: readonly string[]): Promise<string> {
  const { code, out, err } = await runText(["render", ...args]);
  assert.equal(code, 0, err);
  return out;
}
