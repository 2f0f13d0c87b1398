import { Client } from "undici";
import type { TlsMaterial } from "../../config/tls-material.ts";
import { withDeadline } from "../client/deadline.ts";
import type { DoctorContext } from "./doctor.ts";
import { answeringNodes } from "./nodes.ts";
import { tlsOf } from "./tls.ts";

/** A clock that is further off than this is told of, in ms: the Date header counts whole seconds, and answers take time. */
const skewMaxMs = 3_000;

/** Compares every node's clock, as its Date header tells it (RFC 9110, 6.6.1), with this machine's. */
export async function checkClocks(context: DoctorContext): Promise<void> {
  const { context: session, config, probed } = context;
  const asked = probed.snapshot.clusters.flatMap((state) =>
    answeringNodes(state).flatMap(({ node }) =>
      node.api === null ? [] : [{ cluster: state.name, node: node.name, api: node.api }],
    ),
  );
  const skews = await Promise.all(
    asked.map(async ({ cluster, node, api }) => ({
      cluster,
      node,
      skewMs: await skewOf(api, { tls: tlsOf(context, cluster), timeoutMs: config.probe.timeoutMs }),
    })),
  );
  const told = skews.filter(({ skewMs }) => skewMs !== null);
  for (const { cluster, node, skewMs } of told) {
    if (skewMs === null || Math.abs(skewMs) <= skewMaxMs) continue;
    session.result.diagnose("RC103", {
      message: `the clock of ${cluster}/${node} is about ${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? "ahead of" : "behind"} this machine's`,
    });
  }
  const detail =
    asked.length === 0 ? "no node has answered" : `${told.length} of ${asked.length} nodes tell their time`;
  session.result.cover("clocks", told.length === 0 ? "incomplete" : "complete", { detail });
}

/** How far the node's clock is ahead, in ms; `null` where it does not tell. The best guess at when it looked is the middle of the asking. */
async function skewOf(
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
    const middleMs = (sentMs + Date.now()) / 2;
    await body.dump();
    const dateMs = typeof headers["date"] === "string" ? Date.parse(headers["date"]) : Number.NaN;
    return Number.isNaN(dateMs) ? null : dateMs + 500 - middleMs;
  } catch {
    return null;
  } finally {
    await client.destroy();
  }
}
