import { setTimeout as pause } from "node:timers/promises";
import { parseReport } from "../core/cluster/documents/report.ts";
import { parsePythonJson } from "../core/cluster/values/python-json.ts";
import type { ClusterConfig, Config, ProbeConfig } from "../core/config/model/config.ts";
import { readTls, type TlsMaterial } from "../core/config/tls-material.ts";
import { isPlainAddress } from "../core/probe/client/node-finder.ts";
import { NodeClient } from "../core/probe/client/client.ts";

/** Time between two rounds of requests to the seeds, in ms. */
const retryPauseMs = 100;

/**
 * Requests the status document of each seed of the only cluster, all at once. Takes at most one probe timeout.
 * Seeds that are no host and port are not asked.
 * @param patience `wait` repeats the requests until that timeout while no seed reports a scope: nodes may be starting
 * @returns the scope that a seed reports: if several do, that of the first one in the order of the configuration;
 *   `null` if none does
 */
export async function discoverScope(
  { clusters, probe }: Pick<Config, "clusters" | "probe">,
  patience: "once" | "wait" = "once",
): Promise<string | null> {
  const [cluster] = clusters;
  const seeds = (cluster?.discover ?? []).filter(isPlainAddress);
  const tls = trustOf(cluster);
  const endMs = performance.now() + probe.timeoutMs;
  for (;;) {
    const timeoutMs = Math.max(1, endMs - performance.now());
    const scopes = await Promise.all(seeds.map((seed) => scopeOf(seed, { ...probe, timeoutMs }, tls)));
    const found = scopes.find((scope) => scope !== null) ?? null;
    if (found !== null || patience === "once" || performance.now() + retryPauseMs >= endMs) return found;
    await pause(retryPauseMs);
  }
}

/** The TLS files of the cluster; `null` if they cannot be read, which its probers report. */
function trustOf(cluster: ClusterConfig | undefined): TlsMaterial | null {
  if (cluster === undefined || cluster.tls === null) return null;
  try {
    return readTls(cluster.tls);
  } catch {
    return null;
  }
}

async function scopeOf(
  seed: string,
  { connectTimeoutMs, timeoutMs }: ProbeConfig,
  tls: TlsMaterial | null,
): Promise<string | null> {
  const client = new NodeClient(seed, { connectTimeoutMs, timeoutMs }, tls);
  try {
    const reply = await client.get("/patroni");
    return "failure" in reply ? null : (parseReport(parsePythonJson(reply.body.toString("utf8")))?.scope ?? null);
  } finally {
    client.close();
  }
}
