import { setTimeout as pause } from "node:timers/promises";
import { parseReport } from "../cluster/documents/report.ts";
import { parsePythonJson } from "../cluster/values/python-json.ts";
import type { Config, ProbeConfig } from "../config/model/config.ts";
import { NodeClient } from "../probe/client/client.ts";

/** Time between two rounds of requests to the seeds, in ms. */
const retryPauseMs = 100;

/**
 * Requests the status document of each seed of the only cluster, all at once. Takes at most one probe timeout.
 * @param patience `wait` repeats the requests until that timeout while no seed reports a scope: nodes may be starting
 * @returns the scope that a seed reports: if several do, that of the first one in the order of the configuration;
 *   `null` if none does
 */
export async function discoverScope(
  { clusters, probe }: Pick<Config, "clusters" | "probe">,
  patience: "once" | "wait" = "once",
): Promise<string | null> {
  const seeds = clusters[0]?.discover ?? [];
  const endMs = performance.now() + probe.timeoutMs;
  for (;;) {
    const timeoutMs = Math.max(1, endMs - performance.now());
    const scopes = await Promise.all(seeds.map((seed) => scopeOf(seed, { ...probe, timeoutMs })));
    const found = scopes.find((scope) => scope !== null) ?? null;
    if (found !== null || patience === "once" || performance.now() + retryPauseMs >= endMs) return found;
    await pause(retryPauseMs);
  }
}

async function scopeOf(seed: string, { connectTimeoutMs, timeoutMs }: ProbeConfig): Promise<string | null> {
  const client = new NodeClient(seed, { connectTimeoutMs, timeoutMs }, null);
  try {
    const reply = await client.get("/patroni");
    return "failure" in reply ? null : (parseReport(parsePythonJson(reply.body.toString("utf8")))?.scope ?? null);
  } finally {
    client.close();
  }
}
