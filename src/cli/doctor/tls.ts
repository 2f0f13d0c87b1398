import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import { readTls, type TlsMaterial } from "../../config/tls-material.ts";
import { answeringNodes } from "./nodes.ts";
import type { DoctorContext } from "./doctor.ts";

/** A certificate that ends sooner than this is told of, in days. */
const daysLeft = 30;
const dayMs = 86_400_000;

/** Our own certificates and authorities towards the nodes, and the certificates that nodes show. */
export async function checkTls(context: DoctorContext): Promise<void> {
  const { context: session, config, probed } = context;
  const files = config.clusters.flatMap(({ tls }) => [tls?.ca, tls?.cert].filter((file) => typeof file === "string"));
  for (const { name, tls } of config.clusters) if (tls !== null) examineFiles(context, name);
  const servers = probed.snapshot.clusters.flatMap((state) =>
    answeringNodes(state).flatMap(({ node }) =>
      node.api?.startsWith("https:") === true ? [{ cluster: state.name, node: node.name, api: node.api }] : [],
    ),
  );
  const ends = await Promise.all(
    servers.map(async ({ cluster, node, api }) => ({
      who: `${cluster}/${node}`,
      validTo: await endOf(api, { tls: tlsOf(context, cluster), timeoutMs: config.probe.timeoutMs }),
    })),
  );
  for (const { who, validTo } of ends) if (validTo !== null) examineEnd(context, `the certificate of ${who}`, validTo);
  if (files.length === 0 && servers.length === 0)
    session.result.cover("tls", "not_applicable", { detail: "no TLS towards the nodes" });
  else {
    const unseen = ends.filter(({ validTo }) => validTo === null).map(({ who }) => who);
    const detail =
      unseen.length === 0
        ? `${files.length} files, ${servers.length} nodes`
        : `no certificate was seen of ${unseen.join(", ")}`;
    session.result.cover("tls", unseen.length === 0 ? "complete" : "incomplete", { detail });
  }
}

/** The TLS material of a cluster; `null` where it has none or it cannot be read, which is told elsewhere. */
export function tlsOf({ config }: DoctorContext, cluster: string): TlsMaterial | null {
  const files = config.clusters.find(({ name }) => name === cluster)?.tls ?? null;
  try {
    return files === null ? null : readTls(files);
  } catch {
    return null;
  }
}

function examineFiles(context: DoctorContext, cluster: string): void {
  const { config, context: session } = context;
  const files = config.clusters.find(({ name }) => name === cluster)?.tls ?? null;
  const material = tlsOf(context, cluster);
  if (files === null || material === null) return;
  for (const [file, text] of [
    [files.ca, material.ca],
    [files.cert, material.cert],
  ] as const) {
    if (file === null || text === undefined) continue;
    for (const pem of text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []) {
      try {
        examineEnd(context, file, new Date(new X509Certificate(pem).validTo));
      } catch (error) {
        session.result.diagnose("RC111", {
          message: `cluster ${cluster}: ${file} holds no certificate: ${error instanceof Error ? error.message : String(error)}`,
          location: { file, kind: "source" },
        });
      }
    }
  }
}

function examineEnd({ context: { result } }: DoctorContext, what: string, validTo: Date): void {
  const days = Math.floor((validTo.getTime() - Date.now()) / dayMs);
  if (days >= daysLeft) return;
  const isOver = days < 0;
  result.diagnose("RC109", {
    message: `${what} ${isOver ? "has expired" : `expires in ${days} days`}: ${validTo.toISOString()}`,
    ...(isOver ? { severity: "error" as const } : {}),
  });
}

/** Until when the certificate that a node shows is valid; `null` where none was seen. It is looked at even if it is not trusted. */
function endOf(
  api: string,
  { tls, timeoutMs }: { readonly tls: TlsMaterial | null; readonly timeoutMs: number },
): Promise<Date | null> {
  const url = new URL(api);
  return new Promise((resolve) => {
    const socket = connect(
      {
        host: url.hostname.replace(/^\[|\]$/g, ""),
        port: Number(url.port === "" ? 443 : url.port),
        ...tls,
        rejectUnauthorized: false,
        timeout: timeoutMs,
      },
      () => {
        const { valid_to: validTo } = socket.getPeerCertificate();
        socket.destroy();
        resolve(typeof validTo === "string" ? new Date(validTo) : null);
      },
    );
    const fail = (): void => {
      socket.destroy();
      resolve(null);
    };
    socket.once("error", fail);
    socket.once("timeout", fail);
  });
}
