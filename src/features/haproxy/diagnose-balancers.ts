import { errorMessage } from "../../core/cluster/values/error-message.ts";
import type { ClusterState } from "../../core/cluster/snapshot.ts";
import type { BalancerConfig, HaproxyBackendConfig } from "../../core/config/model/config.ts";
import { inspectHaproxy, type HaproxyInspection } from "./inspect-haproxy.ts";
import { additionRefused, canAddServers } from "./member-servers.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";

/** How long HAProxy may take to answer, in ms. */
const deadlineMs = 2_000;

/**
 * Connects to the Runtime API of every balancer, and checks its level and the names of its backends and servers
 * (RC135 to RC138). Changes nothing there.
 */
export async function diagnoseBalancers(context: DoctorContext): Promise<void> {
  const { command, config } = context;
  if (config.balancers.length === 0) {
    command.result.cover("balancers", "not_applicable", { detail: "no balancer is configured" });
    return;
  }
  const inspected = await Promise.all(config.balancers.map((balancer) => checkBalancer(context, balancer)));
  const usable = inspected.filter((isUsable) => isUsable).length;
  command.result.cover("balancers", "complete", { detail: `${usable} of ${config.balancers.length} can be used` });
}

async function checkBalancer(context: DoctorContext, { name, haproxy }: BalancerConfig): Promise<boolean> {
  const { result } = context.command;
  let inspection: HaproxyInspection;
  try {
    inspection = await inspectHaproxy(haproxy, deadlineMs);
  } catch (error) {
    const problem = errorMessage(error);
    result.diagnose("RC135", { message: `balancer ${name}: Cannot use the Runtime API: ${problem}` });
    return false;
  }
  const { level } = inspection.process;
  if (level !== "admin")
    result.diagnose("RC136", { message: `balancer ${name}: the socket must have level admin, got ${level}` });
  for (const backend of haproxy.backends) checkBackend(context, { name, backend, inspection });
  return level === "admin";
}

interface InspectedBackend {
  /** The name of the balancer. */
  readonly name: string;
  readonly backend: HaproxyBackendConfig;
  readonly inspection: HaproxyInspection;
}

function checkBackend({ command: { result }, probed }: DoctorContext, inspected: InspectedBackend): void {
  const { name, backend, inspection } = inspected;
  const states = inspection.backends.get(backend.name) ?? null;
  if (states === null) {
    result.diagnose("RC137", { message: `balancer ${name}: HAProxy has no backend ${backend.name}` });
    return;
  }
  const cluster = probed.snapshot.clusters.find((known) => known.name === backend.cluster);
  for (const server of serversOf(backend, cluster)) {
    const state = states.get(server);
    const where = `balancer ${name}: ${backend.name}/${server}`;
    if (state === undefined) result.diagnose("RC137", missingServer(inspected, server, listed(states.keys())));
    else if (!state.isChecked && !state.isReserved)
      result.diagnose("RC138", { message: `${where} has no check in HAProxy, so rolecall does not set it` });
  }
}

function missingServer(
  { name, backend: { name: backend, followMembers }, inspection: { process } }: InspectedBackend,
  server: string,
  others: string,
): { readonly message: string; readonly severity?: "info" } {
  const message = `balancer ${name}: backend ${backend} has no server ${server}; it has ${others}`;
  if (followMembers === null) return { message };
  return canAddServers(process.version)
    ? { message: `${message}; rolecall adds it while it serves`, severity: "info" }
    : { message: `${message}; ${additionRefused(process.version)}` };
}

function serversOf({ servers }: HaproxyBackendConfig, cluster: ClusterState | undefined): readonly string[] {
  return servers === null ? (cluster?.nodes.map(({ node }) => node.name) ?? []) : Object.keys(servers);
}

function listed(names: Iterable<string>): string {
  const all = [...names];
  if (all.length === 0) return "none";
  return all.length > 10 ? `${all.slice(0, 10).join(", ")} and ${all.length - 10} more` : all.join(", ");
}
