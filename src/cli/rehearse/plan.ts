import { randomBytes } from "node:crypto";
import { clusterPath } from "../client/management-call.ts";
import { readDryRun } from "../client/dry-run.ts";
import { fetchStatusFrom, type StatusCluster } from "../client/cluster-status.ts";
import type { RolecallClient, RolecallRequest } from "../client/rolecall-client.ts";
import type { CommandContext } from "../framework/command-context.ts";
import { CommandError } from "../framework/command-error.ts";
import { formatLag } from "../output/figures.ts";
import { schemaName } from "./database/rehearsal-schema.ts";
import type { RehearsalOptions } from "./options.ts";
import { rehearsalRefusal } from "./rehearsal-refusal.ts";
import { checkPool, type CheckedPool } from "./pool-check.ts";

/** The clients for a running rolecall. */
export interface RehearsalServers {
  /** Health checks, with a short timeout. */
  readonly health: RolecallClient;
  /** Management calls. */
  readonly management: RolecallClient;
  /** The status of the clusters. */
  readonly admin: RolecallClient;
}

/** A rehearsal that was checked and can begin. */
export interface RehearsalPlan {
  readonly options: RehearsalOptions;
  readonly cluster: StatusCluster;
  readonly leader: string;
  /** The management call; `null` for a kill. */
  readonly call: RolecallRequest | null;
  readonly pool: CheckedPool;
  readonly schema: string;
}

/**
 * Checks everything that can be checked without a change.
 * @throws CommandError (RC140) with the reason if the rehearsal must not begin
 */
export async function planRehearsal(
  context: CommandContext,
  options: RehearsalOptions,
  servers: RehearsalServers,
): Promise<RehearsalPlan> {
  const cluster = await requireCluster(context, servers.admin);
  const leader = requireWhole(cluster);
  requireReplica(cluster, leader, options);
  const unknown = [...options.nodeTargets.keys()].find((name) => !cluster.nodes.some(({ node }) => node === name));
  if (unknown !== undefined)
    throw new CommandError(
      "RC001",
      `--node-dsn must name a node of ${cluster.cluster} (${cluster.nodes.map(({ node }) => node).join(", ")}), ` +
        `got ${JSON.stringify(unknown)}`,
    );
  const call = switchoverCall(context, options, leader);
  if (call !== null) await requireAccepted(servers.management, call);
  const pool = await checkPool(context, options, { cluster, leader });
  return { options, cluster, leader, call, pool, schema: schemaName(randomBytes(4).toString("hex")) };
}

async function requireCluster({ args }: CommandContext, admin: RolecallClient): Promise<StatusCluster> {
  const { clusters } = await fetchStatusFrom(admin);
  const name = args.text("cluster");
  const names = clusters.map(({ cluster }) => cluster).join(", ");
  const [only] = clusters;
  if (name === null && only !== undefined && clusters.length === 1) return only;
  const found = clusters.find(({ cluster }) => cluster === name);
  if (found !== undefined) return found;
  throw new CommandError(
    "RC001",
    `--cluster must be one of ${names}, got ${name === null ? "nothing" : JSON.stringify(name)}`,
  );
}

function requireWhole(cluster: StatusCluster): string {
  const { cluster: name, leader, paused, failsafe, scheduled_switchover: scheduled } = cluster;
  if (leader === null) throw rehearsalRefusal(`no node of ${name} leads`, "Run rolecall status.");
  if (paused)
    throw rehearsalRefusal(
      `${name} is paused, so Patroni would not restart the old leader as a replica`,
      "Resume the cluster.",
    );
  if (failsafe) throw rehearsalRefusal(`${name} is in failsafe mode: its DCS is down`, "Restore the DCS.");
  if (scheduled !== null)
    throw rehearsalRefusal(
      `a switchover of ${name} is scheduled at ${scheduled.at}`,
      "Wait for it, or run rolecall switchover --cancel.",
    );
  const holder = cluster.nodes.find(({ node }) => node === leader);
  if (holder === undefined || holder.reason !== null)
    throw rehearsalRefusal(`the leader ${leader} is not fit as a primary: ${holder?.reason ?? "unknown"}`);
  return leader;
}

function requireReplica(cluster: StatusCluster, leader: string, { cause }: RehearsalOptions): void {
  const replicas = cluster.nodes.filter(({ node }) => node !== leader);
  if (cause.kind === "kill" && cause.scope !== cluster.scope)
    throw new CommandError(
      "RC001",
      `--lab must be the scope of ${cluster.cluster}, got ${JSON.stringify(cause.scope)}: nothing was killed`,
      "Run rolecall status -o json for the scope.",
    );
  const candidate = cause.kind === "switchover" ? cause.candidate : null;
  const eligible = replicas.filter(({ node }) => candidate === null || node === candidate);
  if (candidate !== null && eligible.length === 0)
    throw rehearsalRefusal(
      `${candidate} is not a replica of ${cluster.cluster} (${replicas.map(({ node }) => node).join(", ")})`,
    );
  if (eligible.some(({ reason, tags }) => reason === null && tags["nofailover"] === undefined)) return;
  const states = eligible.map(
    ({ node, reason, lag_bytes: lag }) => `${node}: ${reason ?? "nofailover"}, lag ${formatLag(lag)}`,
  );
  throw rehearsalRefusal(
    candidate === null
      ? `no replica of ${cluster.cluster} is fit to be promoted (${states.join("; ")})`
      : `the candidate is not fit to be promoted (${states.join("; ")})`,
  );
}

function switchoverCall(context: CommandContext, { cause }: RehearsalOptions, leader: string): RolecallRequest | null {
  if (cause.kind === "kill") return null;
  const body = { leader, ...(cause.candidate === null ? {} : { candidate: cause.candidate }) };
  return { method: "POST", path: clusterPath(context.args.text("cluster"), "switchover"), body };
}

/** Checks by a dry run that rolecall would forward the switchover. */
async function requireAccepted(management: RolecallClient, call: RolecallRequest): Promise<void> {
  const reply = await management.call({ ...call, path: `${call.path}?dry_run=1` });
  const decision = readDryRun(`${call.method} ${call.path}`, reply);
  if (decision.would === "pass") return;
  const answer = [decision.status, decision.reason].filter((part) => part !== null && part !== "").join(" ");
  throw rehearsalRefusal(`the switchover would be refused with ${answer}: ${decision.message}`);
}
