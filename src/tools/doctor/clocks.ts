import { countText } from "../../core/health/wording.ts";
import { Client } from "undici";
import type { TlsMaterial } from "../../core/config/tls-material.ts";
import { withDeadline } from "../../core/command/client/deadline.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";
import { answeringNodes } from "./nodes.ts";
import { tlsOf } from "./tls.ts";

/** The largest skew without a finding, in ms: the Date header has a resolution of 1 s, and responses take time. */
const maxSkewMs = 3_000;

/**
 * Compares the clock of every node, taken from its Date header (RFC 9110, 6.6.1), with the clock of this machine
 * (RC103).
 */
export async function checkClocks(context: DoctorContext): Promise<void> {
  const { command, config, probed } = context;
  const targets = probed.snapshot.clusters.flatMap((state) =>
    answeringNodes(state).flatMap(({ node }) =>
      node.api === null ? [] : [{ cluster: state.name, node: node.name, api: node.api }],
    ),
  );
  const measured = await Promise.all(
    targets.map(async ({ cluster, node, api }) => ({
      name: `${cluster}/${node}`,
      skewMs: await measureSkew(api, { tls: tlsOf(context, cluster, api), timeoutMs: config.probe.timeoutMs }),
    })),
  );
  const known = measured.flatMap(({ name, skewMs }) => (skewMs === null ? [] : [{ name, skewMs }]));
  for (const { name, skewMs } of known) {
    if (Math.abs(skewMs) <= maxSkewMs) continue;
    command.result.diagnose("RC103", { message: skewMessage(name, skewMs) });
  }
  const detail =
    targets.length === 0
      ? "no node has answered"
      : `${known.length} of ${countText(targets.length, "node")} reported a time`;
  command.result.cover("clocks", known.length === 0 ? "incomplete" : "complete", { detail });
}

/**
 * Estimates how far the clock of a node is ahead, from one response.
 * @param dateMs the node's Date header, in ms since the epoch: whole seconds, rounded down
 * @param sentMs when the request was sent, by the clock of this machine
 * @param receivedMs when the response was received; the estimate assumes that the node answered halfway
 * @returns ms; at most 500 ms plus half of the response time off
 */
export function estimateSkewMs(dateMs: number, sentMs: number, receivedMs: number): number {
  return dateMs + 500 - (sentMs + receivedMs) / 2;
}

/** The message of a finding about a clock. @param skewMs how far it is ahead */
export function skewMessage(name: string, skewMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const direction = skewMs > 0 ? "ahead of" : "behind";
  return `the clock of ${name} is about ${seconds} s ${direction} the clock of this machine`;
}

/** Returns how far the clock of a node is ahead, in ms, or `null` if the node does not report its time. */
async function measureSkew(
  api: string,
  { tls, timeoutMs }: { readonly tls: TlsMaterial | null; readonly timeoutMs: number },
): Promise<number | null> {
  const client = new Client(api, {
    connect: { timeout: timeoutMs, ...tls },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const sentMs = Date.now();
  try {
    const { headers, body } = await withDeadline(timeoutMs, [], (signal) =>
      client.request({ path: "/patroni", method: "GET", signal }),
    );
    const receivedMs = Date.now();
    await body.dump();
    const dateMs = typeof headers["date"] === "string" ? Date.parse(headers["date"]) : Number.NaN;
    return Number.isNaN(dateMs) ? null : estimateSkewMs(dateMs, sentMs, receivedMs);
  } catch {
    return null;
  } finally {
    await client.destroy();
  }
}
