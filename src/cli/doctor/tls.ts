import { X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import { readTls, type TlsMaterial } from "../../config/tls-material.ts";
import { answeringNodes } from "./nodes.ts";
import type { DoctorContext } from "./doctor-context.ts";
import { errorMessage } from "../result/error-message.ts";

/** A certificate that expires within this time is reported, in days. */
const minDaysLeft = 30;
const dayMs = 86_400_000;

/** Checks the expiry of the configured certificates and of the certificates that nodes present (RC109). */
export async function checkTls(context: DoctorContext): Promise<void> {
  const { command, config, probed } = context;
  const files = config.clusters.flatMap(({ tls }) => [tls?.ca, tls?.cert].filter((file) => typeof file === "string"));
  for (const { name, tls } of config.clusters) if (tls !== null) checkFiles(context, name);
  const servers = probed.snapshot.clusters.flatMap((state) =>
    answeringNodes(state).flatMap(({ node }) =>
      node.api?.startsWith("https:") === true ? [{ cluster: state.name, node: node.name, api: node.api }] : [],
    ),
  );
  const presented = await Promise.all(
    servers.map(async ({ cluster, node, api }) => ({
      name: `${cluster}/${node}`,
      validTo: await presentedValidTo(api, { tls: tlsOf(context, cluster), timeoutMs: config.probe.timeoutMs }),
    })),
  );
  for (const { name, validTo } of presented)
    if (validTo !== null) checkExpiry(context, `the certificate of ${name}`, validTo);
  if (files.length === 0 && servers.length === 0)
    command.result.cover("tls", "not_applicable", { detail: "no TLS towards the nodes" });
  else {
    const missing = presented.filter(({ validTo }) => validTo === null).map(({ name }) => name);
    const detail =
      missing.length === 0
        ? `${files.length} files, ${servers.length} nodes`
        : `no certificate received from ${missing.join(", ")}`;
    command.result.cover("tls", missing.length === 0 ? "complete" : "incomplete", { detail });
  }
}

/** The TLS material of a cluster; `null` if it has none or its files cannot be read, which RC111 reports. */
export function tlsOf({ config }: DoctorContext, cluster: string): TlsMaterial | null {
  const files = config.clusters.find(({ name }) => name === cluster)?.tls ?? null;
  try {
    return files === null ? null : readTls(files);
  } catch {
    return null;
  }
}

function checkFiles(context: DoctorContext, cluster: string): void {
  const { config, command } = context;
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
        checkExpiry(context, file, new Date(new X509Certificate(pem).validTo));
      } catch (error) {
        command.result.diagnose("RC111", {
          message: `cluster ${cluster}: ${file} contains an unreadable certificate: ${errorMessage(error)}`,
          location: { file, kind: "source" },
        });
      }
    }
  }
}

function checkExpiry({ command: { result } }: DoctorContext, subject: string, validTo: Date): void {
  const days = Math.floor((validTo.getTime() - Date.now()) / dayMs);
  if (days >= minDaysLeft) return;
  const hasExpired = days < 0;
  result.diagnose("RC109", {
    message: `${subject} ${hasExpired ? "has expired" : `expires in ${days} days`}: ${validTo.toISOString()}`,
    ...(hasExpired ? { severity: "error" as const } : {}),
  });
}

/** When the certificate that a node presents expires; `null` if none was received. Untrusted certificates count too. */
function presentedValidTo(
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
