/** Carries out a fault, and takes it back. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { until } from "../../../test/fake/until.ts";
import { freeze, freezeMachine } from "../../../test/real/lab/freeze.ts";
import type { PatroniNode } from "../../../test/real/lab/patroni.ts";
import { signal } from "../../../test/real/lab/reaper.ts";
import { database } from "../lab.ts";
import { postSwitchover } from "../run-document.ts";
import type { FaultLab } from "./fault-lab.ts";
import type { FaultSpec } from "./fault-list.ts";

/** What a fault did. Times are of the monotonic clock, in ms. */
export interface Applied {
  readonly atMs: number;
  /** When rolecall was started again. */
  startedAtMs: number | null;
  /** When the pooler could be reached again. */
  reachableAtMs: number | null;
  /** What is wrong with the fault's own answers. */
  readonly problems: string[];
}

interface Undo {
  readonly applied: Applied;
  readonly undo: () => Promise<void>;
}

/**
 * Begins a fault at once.
 * @returns what ends it
 */
export async function inflict(faultLab: FaultLab, { inflicted }: FaultSpec, candidate: PatroniNode): Promise<Undo> {
  const { lab, hop, apis } = faultLab;
  const [pooler] = lab.poolers;
  if (pooler === undefined) throw new Error("Cannot inflict a fault: the lab must have a pooler, got none");
  const applied: Applied = { atMs: performance.now(), startedAtMs: null, reachableAtMs: null, problems: [] };
  const undoing = (undo: () => Promise<void> | void): Undo => ({ applied, undo: async () => undo() });
  switch (inflicted.kind) {
    case "kill_rolecall":
      return undoing(killRolecall(faultLab, inflicted, applied));
    case "freeze_rolecall": {
      const guardian = inflicted.guardian ? faultLab.guardian : null;
      const thaw = [lab.rolecall.freeze(), ...(guardian === null ? [] : [freeze(guardian)])];
      return undoing(() => thaw.forEach((one) => one()));
    }
    case "kill_guardian":
      signal(await startedGuardian(faultLab), "SIGKILL");
      return undoing(() => {});
    case "freeze_guardian":
      return undoing(freeze(await startedGuardian(faultLab)));
    case "kill_pooler":
      signal(pooler.pid, "SIGKILL");
      await pooler.kill();
      return undoing(async () => {
        await pooler.start();
        applied.reachableAtMs = performance.now();
      });
    case "freeze_pooler": {
      const thaw = pooler.freeze();
      return undoing(() => {
        applied.reachableAtMs = performance.now();
        thaw();
      });
    }
    case "cut_pooler":
      hop.cut();
      return undoing(() => {
        hop.restore();
        applied.reachableAtMs = performance.now();
      });
    case "kill_candidate":
      await candidate.kill();
      return undoing(() => candidate.start());
    case "freeze_candidate": {
      const { postmaster, pid } = candidate;
      if (postmaster === undefined || pid === undefined)
        throw new Error(`Cannot freeze ${candidate.name}: it must run, got no process`);
      return undoing(freezeMachine(postmaster, pid));
    }
    case "kill_etcd":
      await lab.cluster.etcd.kill();
      return undoing(() => lab.cluster.etcd.start());
    case "freeze_etcd":
      return undoing(lab.cluster.etcd.freeze());
    case "kill_peer":
      await lab.peer.kill();
      return undoing(() => lab.startPeer());
    case "freeze_peer":
      return undoing(lab.peer.freeze());
    case "transaction": {
      const client = await openTransaction(pooler.port);
      return undoing(async () => {
        await client.query("ROLLBACK").catch(() => {});
        await client.end();
      });
    }
    case "api":
      for (const api of apis) api.set(inflicted.answer);
      return undoing(() => apis.forEach((api) => api.set(null)));
    case "second_switchover": {
      const { status, body } = await postSwitchover(lab.api, { candidate: candidate.name, unguarded: true });
      if (status !== 409) applied.problems.push(`a second switchover must be answered with 409, got ${status} ${body}`);
      return undoing(() => {});
    }
    case "state_file":
      return undoing(readOnly(lab.stateFolder));
    case "pooler_file":
      return undoing(readOnly(pooler.folder));
    case "second_edge": {
      const asked = postSwitchover(lab.peerApi, { candidate: candidate.name });
      await sleep(inflicted.earlierMs);
      return undoing(async () => {
        const { status, body } = await asked;
        if (status !== 202 && status !== 409)
          applied.problems.push(`the peer must answer 202 or 409, got ${status} ${body}`);
      });
    }
  }
}

/** It starts while the run is armed. */
function startedGuardian(faultLab: FaultLab): Promise<number> {
  return until("the guardian", () => faultLab.guardian ?? undefined);
}

/**
 * Makes a folder read-only, also for root, at one instant: a mount cannot become read-only while a file is open for
 * writing, so one that is read-only already covers the folder. @returns what ends that
 */
function readOnly(folder: string): () => void {
  const aside = mkdtempSync(join(tmpdir(), "rolecall-ro-"));
  const mount = (...argv: readonly string[]): void => void execFileSync("mount", argv);
  mount("--bind", folder, aside);
  mount("-o", "remount,bind,ro", aside);
  mount("--bind", aside, folder);
  execFileSync("umount", ["--lazy", aside]);
  rmdirSync(aside);
  return () => void execFileSync("umount", ["--lazy", folder]);
}

/** SIGKILL to both in one instant, if the guardian is to be killed too. What it returns starts rolecall again. */
function killRolecall(
  faultLab: FaultLab,
  { guardian: isGuardian, cut }: { readonly guardian: boolean; readonly cut: boolean },
  applied: Applied,
): () => Promise<void> {
  const { lab, hop } = faultLab;
  const guardian = isGuardian ? faultLab.guardian : null;
  if (cut) hop.cut();
  for (const pid of guardian === null ? [] : [guardian]) signal(pid, "SIGKILL");
  signal(lab.rolecall.pid, "SIGKILL");
  return async () => {
    if (cut) {
      hop.restore();
      applied.reachableAtMs = performance.now();
      await sleep(2_000);
    }
    await lab.rolecall.kill();
    applied.startedAtMs = performance.now();
    await lab.startRolecall();
  };
}

async function openTransaction(port: number): Promise<Client> {
  const client = new Client({ host: "127.0.0.1", port, user: "app", database });
  client.on("error", () => {});
  await client.connect();
  await client.query("BEGIN");
  await client.query("SELECT 1");
  return client;
}
