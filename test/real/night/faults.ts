/**
 * The faults of the night drill: what breaks, how, and what an operator has to learn. The words are those of the one who
 * broke it: nothing here reads rolecall.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { until } from "../../fake/until.ts";
import { callEtcd } from "../lab/dcs-keys.ts";
import { freeze, freezeBackend, freezeMachine } from "../lab/freeze.ts";
import { type PatroniNode, postgresBin } from "../lab/patroni.ts";
import { signal } from "../lab/reaper.ts";
import { isDisk, type NightLab } from "./night-lab.ts";

/** Ends a fault. */
type Undo = () => Promise<void> | void;

export interface Fault {
  readonly name: string;
  /** The true cause, as the operator must learn it. */
  readonly truth: string;
  /** Words one of which must be in what rolecall says while it lasts. Absent: there is nothing to say. */
  readonly named?: RegExp;
  /** Advice that could lose data here, beside that which does so everywhere. */
  readonly forbidden?: readonly RegExp[];
  /** The row of docs/troubleshooting.md, "green, and still no writes", by which clients may fail unsaid. */
  readonly green?: string;
  /** Why it cannot be injected here. */
  readonly notRun?: (lab: NightLab) => string | null;
  readonly inject: (lab: NightLab) => Promise<Undo>;
}

/** Advice that is never right while a database may have writes that others lack, or is alive. */
export const alwaysForbidden: readonly RegExp[] = [
  /rm -rf/,
  /pg_resetwal/,
  /patronictl remove/,
  /rolecall (?:cluster )?failover[^\n]*--force/,
  /reload[^\n]{0,40} to forget/i,
];
/** Where the data of a node may be all there is of some writes: unless these are saved first. */
const rebuild = [/^(?!.*Save what clients wrote).*reinit/i];

const one = <T>(list: readonly T[]): T => {
  const [first] = list;
  assert.ok(first !== undefined);
  return first;
};
const postmasterOf = (node: PatroniNode): number => {
  assert.ok(node.postmaster !== undefined, `${node.name} has no PostgreSQL`);
  return node.postmaster;
};

async function restart(node: PatroniNode): Promise<void> {
  await node.kill();
  node.start();
}

/** Ends a freeze of a machine as its reboot does: see `PatroniNode.betweenRounds`. */
async function reboot(node: PatroniNode, thaw: () => void): Promise<void> {
  await node.killPatroni();
  thaw();
  await restart(node);
}

/** Runs a program of PostgreSQL as its user. */
function asPostgres(...command: readonly string[]): void {
  execFileSync("setpriv", ["--reuid=postgres", "--regid=postgres", "--init-groups", ...command], { stdio: "pipe" });
}

function freezeNode(node: PatroniNode): () => void {
  return freezeMachine(postmasterOf(node), node.pid);
}

/** Sets synchronous mode, and waits until the cluster has a synchronous standby. */
async function synchronous(lab: NightLab, isStrict: boolean): Promise<Undo> {
  await lab.cluster.configure({ synchronous_mode: true, synchronous_mode_strict: isStrict });
  await until({ what: "a synchronous standby", seconds: 30 }, async () => {
    const { body } = await (await lab.cluster.leader()).ask("/cluster");
    return body.includes("sync_standby");
  });
  return () => lab.cluster.configure({ synchronous_mode: false, synchronous_mode_strict: false });
}

/** Replaces the rules of who may connect on every node, until it is undone. */
async function rejected(lab: NightLab, line: string): Promise<Undo> {
  const files = lab.cluster.nodes.map((node) => join(node.dataFolder, "pg_hba.conf"));
  const before = files.map((file) => readFileSync(file, "utf8"));
  const reload = (): void => lab.cluster.nodes.forEach((node) => signal(postmasterOf(node), "SIGHUP"));
  files.forEach((file, at) => writeFileSync(file, `${line}\n${before[at] ?? ""}`));
  reload();
  return () => {
    files.forEach((file, at) => writeFileSync(file, before[at] ?? ""));
    reload();
  };
}

async function freezeReceiver(lab: NightLab): Promise<Undo> {
  return freezeBackend(postmasterOf(one(await lab.cluster.replicas())), "walreceiver");
}

/** Replaces a folder or file of rolecall by something that it cannot write. */
function blocked(path: string): Undo {
  const aside = `${path}.aside`;
  if (existsSync(path)) renameSync(path, aside);
  execFileSync("mkdir", ["-p", join(path, "in-the-way")]);
  return () => {
    rmSync(path, { recursive: true, force: true });
    if (existsSync(aside)) renameSync(aside, path);
  };
}

/** Fills the disk of a node. */
function fill(folder: string): Undo {
  const filler = join(folder, "filler");
  const { bavail, bsize } = statfsSync(folder);
  execFileSync("fallocate", ["-l", String(Math.max(bavail * bsize, 4_096)), filler]);
  return () => rmSync(filler);
}

function noDisk({ cluster }: NightLab): string | null {
  return isDisk(cluster.nodes[0].dataFolder) ? null : "no disk could be mounted";
}

/** Both faults; undone in the opposite order. */
async function both(lab: NightLab, first: string, second: string): Promise<Undo> {
  const undos: Undo[] = [];
  for (const name of [first, second]) undos.unshift(await faultOf(name).inject(lab));
  return async () => {
    for (const undo of undos) await undo();
  };
}

export const faults: readonly Fault[] = [
  {
    name: "the primary's PostgreSQL is killed",
    truth: "PostgreSQL of the primary died; its Patroni starts it again or another node takes over",
    forbidden: rebuild,
    inject: async ({ cluster }) => {
      signal(postmasterOf(await cluster.leader()), "SIGKILL");
      return () => {};
    },
  },
  {
    name: "the primary's machine loses its power",
    truth: "PostgreSQL and Patroni of the primary are gone; another node takes over after ttl; the node is down",
    named: /pg\d.*(down|unreachable|refused|no answer|not answer)/is,
    forbidden: rebuild,
    inject: async ({ cluster }) => {
      const leader = await cluster.leader();
      await leader.kill();
      return () => leader.start();
    },
  },
  {
    name: "Patroni alone is killed on the primary",
    truth:
      "Patroni of the primary died and PostgreSQL goes on writing without a manager; another node takes over after ttl",
    named: /patroni|manager|api/i,
    forbidden: rebuild,
    inject: async ({ cluster }) => {
      const leader = await cluster.leader();
      await leader.killPatroni();
      return () => leader.start();
    },
  },
  {
    name: "Patroni alone is killed on a replica",
    truth: "Patroni of a replica died; its PostgreSQL lives; writes are not touched",
    named: /patroni|api|refused|unreachable/i,
    forbidden: rebuild,
    inject: async ({ cluster }) => {
      const replica = one(await cluster.replicas());
      await replica.killPatroni();
      return () => replica.start();
    },
  },
  {
    name: "both replicas freeze under synchronous_mode_strict",
    truth: "no standby confirms, so commits hang",
    named: /sync|standby|confirm|commit/i,
    forbidden: rebuild,
    inject: async (lab) => {
      const undo = await synchronous(lab, true);
      const thaws = (await lab.cluster.replicas()).map(freezeNode);
      return async () => {
        thaws.forEach((thaw) => thaw());
        await sleep(3_000);
        await undo();
      };
    },
  },
  {
    name: "the synchronous standby freezes",
    truth: "commits hang until Patroni replaces the synchronous standby",
    named: /pg\d/,
    forbidden: rebuild,
    inject: async (lab) => {
      const undo = await synchronous(lab, false);
      const { body } = await (await lab.cluster.leader()).ask("/cluster");
      const { members } = JSON.parse(body) as {
        readonly members: readonly { readonly name: string; readonly role: string }[];
      };
      const name = members.find(({ role }) => role === "sync_standby")?.name;
      const thaw = freezeNode(one(lab.cluster.nodes.filter((node) => node.name === name)));
      return async () => {
        thaw();
        await sleep(3_000);
        await undo();
      };
    },
  },
  {
    name: "a replica freezes",
    truth: "the machine of a replica hangs",
    named: /pg\d.*(no answer|timeout|answer|stale|down)/is,
    forbidden: rebuild,
    inject: async ({ cluster }) => freezeNode(one(await cluster.replicas())),
  },
  {
    name: "the primary freezes",
    truth: "the machine of the primary hangs; another node takes over after ttl",
    named: /pg\d/,
    forbidden: rebuild,
    inject: async ({ cluster }) => {
      const leader = await cluster.leader();
      await leader.betweenRounds();
      const thaw = freezeNode(leader);
      return () => reboot(leader, thaw);
    },
  },
  {
    name: "the primary's PostgreSQL freezes, its Patroni lives",
    truth: "PostgreSQL of the primary answers nothing; its Patroni still answers",
    named: /pg\d.*(postgresql|database|hang|answer)/is,
    forbidden: rebuild,
    inject: async ({ cluster }) => {
      const leader = await cluster.leader();
      const thaw = freezeMachine(postmasterOf(leader));
      return () => reboot(leader, thaw);
    },
  },
  {
    name: "HAProxy's server of the primary is in maint",
    truth: "an operator has put the only server of the write pool into maintenance",
    named: /maint/i,
    inject: async (lab) => {
      const { name } = await lab.cluster.leader();
      await lab.runtime(`set server demo_write/${name} state maint`);
      return async () => void (await lab.runtime(`set server demo_write/${name} state ready`));
    },
  },
  {
    name: "HAProxy's server of the primary has the address of a replica",
    truth: "the write pool leads to a replica, because the address of its server was changed at run time",
    named: /leads? to/i,
    inject: async (lab) => {
      const { name, databasePort } = await lab.cluster.leader();
      const replica = one(await lab.cluster.replicas());
      const set = (port: number): Promise<string> =>
        lab.runtime(`set server demo_write/${name} addr 127.0.0.1 port ${port}`);
      await set(replica.databasePort);
      return async () => void (await set(databasePort));
    },
  },
  {
    name: "HAProxy is dead",
    truth: "HAProxy is not running",
    named: /haproxy|edge|ECONNREFUSED/i,
    inject: async (lab) => {
      await lab.haproxy.stop("SIGKILL");
      return () => lab.startHaproxy();
    },
  },
  {
    name: "HAProxy freezes",
    truth: "HAProxy hangs",
    named: /haproxy|edge|timeout/i,
    inject: async (lab) => freeze(lab.haproxy.pid ?? 0),
  },
  {
    name: "PgBouncer is dead",
    truth: "PgBouncer is not running",
    named: /pgbouncer|pgb1|ECONNREFUSED/i,
    inject: async ({ pgbouncer }) => {
      await pgbouncer.kill();
      return () => pgbouncer.start();
    },
  },
  {
    name: "PgBouncer freezes",
    truth: "PgBouncer hangs",
    named: /pgbouncer|pgb1|timeout/i,
    inject: async ({ pgbouncer }) => pgbouncer.freeze(),
  },
  {
    name: "PgBouncer's database is paused",
    truth: "somebody has paused the database on the console of PgBouncer",
    named: /paus/i,
    inject: async ({ pgbouncer }) => {
      const say = async (command: string): Promise<void> => {
        const client = new Client({ host: "127.0.0.1", port: pgbouncer.port, user: "rolecall", database: "pgbouncer" });
        client.on("error", () => {});
        await client.connect();
        await client.query(command);
        await client.end();
      };
      await say("PAUSE postgres");
      return () => say("RESUME postgres");
    },
  },
  {
    name: "the primary's disk is full, and WAL has no place",
    truth: "no space is left on the disk of the primary, and its PostgreSQL ends as it cannot write WAL",
    named: /space|disk|53100|starting|crash|stopped|not running|PostgreSQL and its log/i,
    forbidden: rebuild,
    notRun: noDisk,
    inject: async (lab) => {
      const leader = await lab.cluster.leader();
      const empty = fill(leader.dataFolder);
      // Segments that are used again have their place already: go on until a new one is needed.
      for (let round = 0; round < 20 && leader.postmaster !== undefined; round += 1)
        await lab.sql(leader, "insert into night default values; select pg_switch_wal()").catch(() => {});
      return empty;
    },
  },
  {
    name: "the primary's disk is full, and tables cannot grow",
    truth: "no space is left on the disk of the primary: WAL has its place still, but rows of clients have none",
    green: "the disk of the database is full, and WAL has its place still",
    notRun: noDisk,
    inject: async ({ cluster }) => fill((await cluster.leader()).dataFolder),
  },
  {
    name: "too many clients",
    truth: "idle sessions hold every connection of the primary",
    named: /53300|too many|slots/i,
    inject: async ({ cluster }) => {
      const { databasePort } = await cluster.leader();
      const hogs: Client[] = [];
      for (let failed = 0; hogs.length < 250 && failed < 40;) {
        const hog = new Client({ host: "127.0.0.1", port: databasePort, user: "app", database: "postgres" });
        hog.on("error", () => {});
        try {
          await hog.connect();
          hogs.push(hog);
        } catch {
          failed += 1;
          await sleep(50);
        }
      }
      return async () => void (await Promise.all(hogs.map((hog) => hog.end().catch(() => {}))));
    },
  },
  {
    name: "pg_hba.conf rejects every client",
    truth: "pg_hba.conf refuses clients on all nodes",
    named: /28000|pg_hba/i,
    inject: (lab) => rejected(lab, "host postgres app,guarded 127.0.0.1/32 reject"),
  },
  {
    name: "pg_hba.conf rejects the application's user",
    truth: "pg_hba.conf refuses the user of the application, and not that of the canaries",
    green: "pg_hba.conf",
    inject: (lab) => rejected(lab, "host postgres app 127.0.0.1/32 reject"),
  },
  {
    name: "etcd is dead",
    truth: "no node reaches the DCS, so Patroni demotes the primary",
    named: /dcs|etcd/i,
    forbidden: rebuild,
    inject: async ({ cluster: { etcd } }) => {
      await etcd.kill();
      return () => etcd.start();
    },
  },
  {
    name: "etcd freezes",
    truth: "the DCS hangs, so Patroni demotes the primary",
    named: /dcs|etcd/i,
    forbidden: rebuild,
    inject: async ({ cluster: { etcd } }) => etcd.freeze(),
  },
  {
    name: "the cluster is paused and the primary's PostgreSQL is killed",
    truth: "the cluster is paused, so Patroni neither starts the primary's PostgreSQL nor fails over",
    named: /pause/i,
    forbidden: rebuild,
    inject: async ({ cluster }) => {
      const leader = await cluster.leader();
      await cluster.configure({ pause: true });
      await sleep(3_000);
      signal(postmasterOf(leader), "SIGKILL");
      return async () => {
        await leader.ask("/config", { method: "PATCH", body: { pause: null }, deadlineMs: 10_000 });
      };
    },
  },
  {
    name: "the WAL receiver of a replica freezes",
    truth: "a replica gets no WAL any more",
    named: /pg\d.*(detached|stream|receiv|WAL|stall|lag)/is,
    forbidden: rebuild,
    inject: freezeReceiver,
  },
  {
    name: "replay of a replica is paused",
    // From PostgreSQL 14 on (`handle_parameter_change` of Patroni).
    truth: "somebody has paused the replay of a replica, and Patroni resumes it within a loop: nothing is wrong",
    forbidden: rebuild,
    inject: async (lab) => {
      const replica = one(await lab.cluster.replicas());
      await lab.sql(replica, "select pg_wal_replay_pause()");
      return () => lab.sql(replica, "select pg_wal_replay_resume()");
    },
  },
  {
    name: "a replica is promoted out of band",
    truth:
      "the cluster is paused, and pg_ctl promote has made a second primary of a replica; clients stay on the first",
    named: /superseded|stray|second primary|two primar|promot|timeline/i,
    inject: async ({ cluster }) => {
      const replica = one(await cluster.replicas());
      await cluster.configure({ pause: true });
      await sleep(3_000);
      asPostgres(join(postgresBin, "pg_ctl"), "promote", "-D", replica.dataFolder);
      return () => cluster.configure({ pause: null });
    },
  },
  {
    name: "the API of the primary has a certificate of a foreign authority",
    truth: "the certificate of the primary's API is not signed by the authority that rolecall trusts",
    named: /certificate|tls|sign/i,
    inject: async ({ cluster, folder }) => {
      const [certificate, key] = [join(folder, "server.pem"), join(folder, "server.key")];
      for (const file of [certificate, key]) copyFileSync(file, `${file}.good`);
      const subject = ["-subj", "/CN=stranger", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"];
      const made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key];
      execFileSync("openssl", ["req", "-x509", ...made, "-out", certificate, ...subject], { stdio: "pipe" });
      const { pid } = await cluster.leader();
      signal(pid, "SIGHUP");
      await sleep(1_000);
      return () => {
        for (const file of [certificate, key]) renameSync(`${file}.good`, file);
        execFileSync("chmod", ["a+r", key]);
        signal(pid, "SIGHUP");
      };
    },
  },
  {
    name: "rolecall freezes for 10 s",
    truth: "rolecall hung, HAProxy took all servers out, and rolecall goes on",
    inject: async ({ rolecall }) => {
      const thaw = freeze(rolecall.pid ?? 0);
      await sleep(10_000);
      thaw();
      return () => {};
    },
  },
  {
    name: "rolecall's configuration is broken and reloaded",
    truth: "the new configuration was refused, and the old one goes on",
    named: /config|refused|reload/i,
    inject: async ({ configFile, rolecall }) => {
      const good = readFileSync(configFile, "utf8");
      writeFileSync(configFile, good.replace('"/primary"', '"/primry"'));
      signal(rolecall.pid ?? 0, "SIGHUP");
      return () => {
        writeFileSync(configFile, good);
        signal(rolecall.pid ?? 0, "SIGHUP");
      };
    },
  },
  {
    name: "rolecall cannot write its history and state",
    truth: "the state file and the directory of the history cannot be written",
    // What it says of them is in its log, and an alert after 5 minutes: longer than the drill waits.
    inject: async ({ folder }) => {
      const names = readdirSync(folder).filter((name) => name.startsWith("rolecall.state"));
      const undos = names.map((name) => blocked(join(folder, name)));
      return async () => {
        for (const undo of undos) await undo();
      };
    },
  },
  {
    name: "a replica lags under load",
    truth: "a replica is more than 10 MB behind, as its replay hangs under load",
    named: /pg\d.*(lag|behind|replay|stall)/is,
    forbidden: rebuild,
    inject: async (lab) => {
      const leader = await lab.cluster.leader();
      const thaw = freezeBackend(postmasterOf(one(await lab.cluster.replicas())), "startup");
      await lab.sql(leader, "create table if not exists filled (filling text)");
      for (let round = 0; round < 3; round += 1)
        await lab.sql(leader, "insert into filled select repeat(md5(n::text), 30) from generate_series(1, 5000) n");
      return async () => {
        thaw();
        await lab.sql(await lab.cluster.leader(), "drop table filled");
      };
    },
  },
  {
    name: "a switchover while a replica is down",
    truth: "a replica is down, and the other one was made primary on purpose",
    named: /pg\d.*(down|unreachable|refused|answer)/is,
    forbidden: rebuild,
    inject: async ({ cluster }) => {
      const [down, candidate] = await cluster.replicas();
      assert.ok(down !== undefined && candidate !== undefined);
      await down.kill();
      await cluster.switchOver(candidate);
      return () => down.start();
    },
  },
  {
    name: "a dead replica was removed from the DCS",
    truth: "a replica is down, and the DCS does not list it any more",
    named: /pg\d/,
    inject: async ({ cluster }) => {
      const replica = one(await cluster.replicas());
      await replica.kill();
      const key = Buffer.from(`/service/demo/members/${replica.name}`).toString("base64");
      await callEtcd("/v3/kv/deleterange", { key });
      return () => replica.start();
    },
  },
  {
    name: "the password of the canaries is wrong",
    truth: "the password file of the canaries has a wrong password; clients are served",
    named: /28P01|password/i,
    inject: async (lab) => {
      writeFileSync(lab.passwordFile, "wrong\n");
      return () => lab.writePassword();
    },
  },
  {
    name: "PgBouncer freezes while a replica is down",
    truth: "PgBouncer hangs, and a replica is down",
    named: /(pgbouncer|pgb1|timeout).*pg\d|pg\d.*(pgbouncer|pgb1|timeout)/is,
    forbidden: rebuild,
    inject: async (lab) => {
      const replica = one(await lab.cluster.replicas());
      await replica.kill();
      const thaw = lab.pgbouncer.freeze();
      return () => {
        thaw();
        replica.start();
      };
    },
  },
  {
    name: "HAProxy is dead while the cluster has no DCS",
    truth: "HAProxy is not running, and no node reaches the DCS",
    named: /haproxy|edge|ECONNREFUSED/i,
    forbidden: rebuild,
    inject: (lab) => both(lab, "HAProxy is dead", "etcd is dead"),
  },
];

function faultOf(name: string): Fault {
  const found = faults.find((fault) => fault.name === name);
  if (found === undefined) throw new Error(`Cannot inject ${name}: it must be in the list`);
  return found;
}
