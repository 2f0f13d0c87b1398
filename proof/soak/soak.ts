import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { cpuMsOf, family } from "../../bench/process-stats.ts";
import { CertificateAuthority } from "../../test/fake/certificates.ts";
import { recordedExporter, serveFakeExporter } from "../../test/fake/fake-exporter.ts";
import { FakeHaproxy, type HaproxyFault } from "../../test/fake/fake-haproxy.ts";
import { portOf } from "../../test/fake/listen.ts";
import { freePort } from "../../test/fake/free-port.ts";
import { until } from "../../test/fake/until.ts";
import { attack } from "./attackers.ts";
import { Clusters } from "./clusters.ts";
import { configurationOf, type Parts, type Ports } from "./configuration.ts";
import { WatchedDcs } from "./dcs.ts";
import { Load } from "./load.ts";
import { Operator } from "./operator.ts";
import { type Action, planOf } from "./plan.ts";
import { ProcessorWatch } from "./processor-watch.ts";
import { Rolecall } from "./rolecall.ts";
import { scrape, visit } from "./visitors.ts";

/** How to run a soak. */
export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  /** Where samples, records and the log are written. */
  readonly folder: string;
  /** The main.js of the build. */
  readonly program: string;
}

const scrapeMs = 15_000;
/** After a worker was killed or listeners changed, connections may be lost for so long, in ms. */
const cutMs = 5_000;

/** Runs a soak and writes what happened to `soak.jsonl` in its folder: report.ts reads it. */
export async function runSoak({ minutes, seed, folder, program }: SoakOptions): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const record = (kind: string, fields: object): void =>
    appendFileSync(`${folder}/soak.jsonl`, `${JSON.stringify({ ...fields, atMs: Date.now(), record: kind })}\n`);
  const clusters = await Clusters.start(4);
  const dcs = await WatchedDcs.start();
  clusters.onLook = (cluster, holder) => dcs.write(cluster, holder);
  const exporters = await Promise.all(
    ["pg1", "pg2", "pg3"].map((node) => serveFakeExporter(recordedExporter("pg_exporter", "steady", node))),
  );
  const names = ["pg1", "pg2", "pg3"].flatMap((node) => [`write/${node}`, `read/${node}`]);
  const haproxy = new FakeHaproxy(names);
  const runtime = haproxy.server();
  await new Promise<void>((resolve) => void runtime.listen(0, "127.0.0.1", resolve));
  const authority = new CertificateAuthority();
  const parts: Parts = {
    ports: await portsOf(),
    clusters: clusters.all,
    etcd: dcs.url,
    exporters: exporters.map(({ origin }) => origin),
    balancer: `127.0.0.1:${portOf(runtime)}`,
    folder,
    certificate: authority.issue("rolecall"),
  };
  const config = `${folder}/rolecall.json`;
  writeFileSync(config, JSON.stringify(configurationOf(parts, { hasExtraCluster: false, hasExtraListener: false })));
  // rolecall's own finding that it was not running.
  const onGap = (lostMs: number): void => clusters.noteStall(lostMs);
  const rolecall = new Rolecall({ program, config, folder }, onGap);
  const operator = new Operator(parts, rolecall, clusters, config);
  await until({ what: "rolecall is ready", seconds: 300 }, () => {
    if (rolecall.end !== null) throw new Error(`Cannot run a soak: rolecall ended with ${rolecall.end}, see its log`);
    return isReady(parts.ports.fast);
  });
  record("begin", { minutes, seed, pid: rolecall.pid, workers: rolecall.workers, node: process.version });
  const { ports } = parts;
  const load = new Load(
    clusters,
    ports,
    () => performance.now() - operator.cutMs < cutMs,
    (problem) => {
      record("problem", { problem });
    },
  );
  clusters.onLooked = () => load.judgePending();
  const act = async (action: Action): Promise<string> => {
    if (action.kind === "switchover") return clusters.switchOver(action);
    if (action.kind === "fault") return clusters.fault(action);
    if (action.kind === "attack") return attack(action, [ports.fast, ports.ordinary, ports.tls, ports.admin]);
    if (action.kind === "pageVisit") return visit(action, ports);
    if (action.kind === "dcsFault") return dcs.fault(action);
    if (action.kind === "balancerFault") return breakBalancer(haproxy, action);
    return operator.do(action);
  };
  const timers = planOf(seed, minutes).map((action) =>
    setTimeout(() => {
      const begunMs = Date.now();
      act(action).then(
        (result) => record("action", { begunMs, action, result }),
        (error: unknown) => record("failed", { what: action.kind, error: String(error) }),
      );
    }, action.atMs),
  );
  const watch = new ProcessorWatch();
  const watching = setInterval(() => {
    const lostMs = watch.lostMs([process.pid, rolecall.pid, ...rolecall.workers]);
    if (lostMs === 0) return;
    clusters.noteStall(lostMs);
    record("starved", { lostMs: Math.round(lostMs) });
  }, 1_000);
  const observe = async (): Promise<void> => {
    haproxy.commands.length = 0;
    const cpuMs = { rolecall: cpuMsOf(family(rolecall.pid)), soak: process.cpuUsage() };
    await scrape(ports).then(
      (scraped) => record("scrape", { ...scraped, counts: load.counts, cpuMs, waitedMs: watch.waitedMs }),
      (error: unknown) => record("failed", { what: "scrape", error: String(error) }),
    );
  };
  const scraping = setInterval(() => void observe(), scrapeMs);
  const endMs = performance.now() + minutes * 60_000;
  while (performance.now() < endMs && rolecall.end === null) await new Promise((done) => void setTimeout(done, 1_000));
  for (const timer of [...timers, scraping, watching]) clearTimeout(timer);
  await observe();
  load.stop();
  const wasRunning = rolecall.end === null;
  const end = await rolecall.stop();
  const { reloads, killed } = operator;
  record("end", { wasRunning, end, counts: load.counts, reloads, killed: [...killed] });
  await Promise.all([clusters.stop(), dcs.stop(), ...exporters.map((exporter) => exporter.close())]);
  runtime.close();
  authority.remove();
}

async function portsOf(): Promise<Ports> {
  return {
    fast: await freePort(),
    ordinary: await freePort(),
    tls: await freePort(),
    admin: await freePort(),
    agent: await freePort(),
    exporter: await freePort(),
    extra: await freePort(),
  };
}

async function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

function breakBalancer(haproxy: FakeHaproxy, { variant, lastsMs }: Action): string {
  haproxy.fault = variant as HaproxyFault;
  setTimeout(() => {
    haproxy.fault = null;
    haproxy.pid += 1;
  }, lastsMs);
  return variant;
}
