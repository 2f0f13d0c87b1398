/** A real Patroni node for comparison: etcd, PostgreSQL and Patroni on free ports of the loopback interface. */
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { find } from "./machine.ts";
import { missingEtcd, startEtcd } from "./etcd.ts";
import { until } from "../test/fake/until.ts";
import { freePort } from "../test/fake/free-port.ts";
import { hasStatus } from "./rolecall.ts";
import { ChildProgram } from "./child-program.ts";

const postgresBin = "/usr/lib/postgresql/15/bin";

export interface RealNode {
  readonly api: string;
  readonly process: ChildProgram;
  stop(): Promise<void>;
}

/** Starts the node and waits until it leads, at most 60 s. Returns the reason if it cannot. */
export async function startPatroni(): Promise<RealNode | { readonly notRun: string }> {
  const noEtcd = missingEtcd();
  if (noEtcd !== null) return { notRun: noEtcd };
  for (const [program, name] of [
    ["patroni", "patroni"],
    ["setpriv", "util-linux"],
  ] as const) {
    if (find(program) === undefined) return { notRun: `package ${name} is not installed` };
  }
  if (!existsSync(`${postgresBin}/postgres`)) return { notRun: "package postgresql-15 is not installed" };
  const folder = mkdtempSync(join(tmpdir(), "rolecall-bench-"));
  const started: ChildProgram[] = [];
  const stop = async (): Promise<void> => {
    for (const process of started.toReversed()) await process.stop();
    endPostgres(folder);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return await startIn(folder, started, stop);
  } catch (error) {
    await stop();
    return { notRun: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) };
  }
}

async function startIn(folder: string, started: ChildProgram[], stop: () => Promise<void>): Promise<RealNode> {
  const [api, database] = [await freePort(), await freePort()];
  giveToPostgres(folder);
  const etcd = await startEtcd(folder, asPostgres);
  started.push(etcd.process);
  const file = join(folder, "pg1.yml");
  writeFileSync(file, JSON.stringify(configuration(folder, { etcd: etcd.url, api, database }))); // JSON is YAML
  chmodSync(file, 0o644);
  const process = await ChildProgram.start({ command: asPostgres(["patroni", file]), core: "measured" });
  started.push(process);
  const url = `http://127.0.0.1:${api}`;
  await until({ what: "the node as leader", seconds: 60 }, () => hasStatus(`${url}/leader`, 200));
  return { api: url, process, stop };
}

function configuration(
  folder: string,
  ports: { readonly etcd: string; readonly api: number; readonly database: number },
): object {
  const [api, database] = [`127.0.0.1:${ports.api}`, `127.0.0.1:${ports.database}`];
  return {
    scope: "c0", // the name that Rolecall.start gives the cluster: a node of another scope is unfit
    name: "pg1",
    restapi: { listen: api, connect_address: api },
    etcd3: { hosts: new URL(ports.etcd).host },
    bootstrap: { dcs: { ttl: 30, loop_wait: 10, retry_timeout: 10 }, initdb: [{ encoding: "UTF8" }] },
    postgresql: {
      listen: database,
      connect_address: database,
      data_dir: join(folder, "data"),
      bin_dir: postgresBin,
      pgpass: join(folder, "pgpass"),
      authentication: {
        replication: { username: "replicator", password: "r" },
        superuser: { username: "postgres", password: "p" },
      },
      parameters: { unix_socket_directories: folder, shared_buffers: "32MB", fsync: "off" },
      pg_hba: ["local all all trust", "host all all 127.0.0.1/32 trust"],
    },
  };
}

/** PostgreSQL refuses to run as root. */
function asPostgres(command: readonly string[]): readonly string[] {
  return process.getuid?.() === 0
    ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", ...command]
    : command;
}

function giveToPostgres(folder: string): void {
  if (process.getuid?.() !== 0) return;
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  chownSync(folder, id("-u"), id("-g"));
}

/** Stops the PostgreSQL that a killed Patroni leaves running. */
function endPostgres(folder: string): void {
  try {
    process.kill(Number(readFileSync(join(folder, "data", "postmaster.pid"), "utf8").split("\n")[0]), "SIGQUIT");
  } catch {
    // It ended together with Patroni.
  }
}
