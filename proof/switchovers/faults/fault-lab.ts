/** The lab of a switchover with faults: everything that a fault may hit, and how it is put right again. */
import { join } from "node:path";
import { until } from "../../../test/fake/until.ts";
import type { PatroniNode } from "../../../test/real/lab/patroni.ts";
import { childrenOf } from "../../../test/real/lab/processes.ts";
import { reapAtExit } from "../../../test/real/lab/reaper.ts";
import { Lab } from "../lab.ts";
import { ApiProxy } from "./api-proxy.ts";
import { ConsoleHop } from "./console-hop.ts";
import type { LabKind } from "./fault-list.ts";
import { StepLog } from "./step-log.ts";

export interface FaultLabOptions {
  readonly patroni: readonly [string, ...string[]];
  readonly pgbouncer: string;
  readonly kind: LabKind;
  /** Further keys of each pooler in rolecall's configuration. */
  readonly pooler?: object;
}

export class FaultLab {
  readonly kind: LabKind;
  readonly lab: Lab;
  readonly hop: ConsoleHop;
  readonly apis: readonly ApiProxy[];

  /** Starts everything. With synchronous replication: then Patroni itself loses no acknowledged row. */
  static async start({ patroni, pgbouncer, kind, pooler: keys = {} }: FaultLabOptions): Promise<FaultLab> {
    const hop = new ConsoleHop();
    const apis: ApiProxy[] = [];
    let isLed = false;
    try {
      const lab = await Lab.start({
        patroni,
        pgbouncer,
        route: "file",
        hasPeer: kind === "peer",
        pooler: keys,
        settings: { listen_addr: `127.0.0.1,${hop.ownAddress}` },
        consoleOf: async (pooler, at) => {
          if (at > 0) return undefined;
          if (!isLed) await hop.lead(pooler.port, pooler.folder);
          isLed = true;
          return hop.address;
        },
        clusterOf: async ({ nodes }) => {
          for (const { apiPort } of nodes.slice(apis.length)) apis.push(await ApiProxy.start(apiPort));
          return { nodes: nodes.map(({ name }, at) => ({ name, api: apis[at]?.url })) };
        },
      });
      const parameters = { synchronous_commit: "on" };
      await lab.cluster.configure({ synchronous_mode: true, postgresql: { parameters } });
      return new FaultLab(kind, lab, hop, apis);
    } catch (error) {
      for (const api of apis) api.close();
      await hop.stop();
      throw error;
    }
  }

  private constructor(kind: LabKind, lab: Lab, hop: ConsoleHop, apis: readonly ApiProxy[]) {
    this.kind = kind;
    this.lab = lab;
    this.hop = hop;
    this.apis = apis;
  }

  /** The log of the rolecall under test. */
  get logFile(): string {
    return join(this.lab.cluster.folder, "rolecall.log");
  }

  /** Follows the log of the peer; `null`: there is none. */
  peerLog(): StepLog | null {
    return this.kind === "peer" ? new StepLog(join(this.lab.cluster.folder, "rolecall2.log")) : null;
  }

  /** The guardian process of the rolecall under test, if it runs. */
  get guardian(): number | null {
    const found = childrenOf(this.lab.rolecall.pid).find(({ title }) => /guardian/.test(title))?.pid ?? null;
    if (found !== null) reapAtExit(() => (isGuardian(found) ? [found] : []));
    return found;
  }

  /** Waits until a switchover is possible. @returns the leader, and the synchronous standby */
  async settled(seconds: number): Promise<{ readonly leader: PatroniNode; readonly candidate: PatroniNode }> {
    const leader = await this.lab.settled(seconds);
    const { cluster } = this.lab;
    const candidate = await until({ what: "a synchronous standby", seconds: 30 }, async () => {
      const { body } = await leader.ask("/cluster");
      const { members = [] } = JSON.parse(body || "{}") as {
        readonly members?: readonly { readonly name: string; readonly role: string }[];
      };
      const name = members.find(({ role }) => role === "sync_standby")?.name;
      return cluster.nodes.find((node) => node.name === name);
    });
    return { leader, candidate };
  }

  async stop(): Promise<void> {
    this.hop.restore();
    await this.lab.stop();
    for (const api of this.apis) api.close();
    await this.hop.stop();
  }
}

function isGuardian(pid: number): boolean {
  return childrenOf(1).some((process) => process.pid === pid && /guardian/.test(process.title));
}
