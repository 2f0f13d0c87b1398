import { countText } from "../../core/health/wording.ts";
import { featureFiles } from "../../app/registry/config.ts";
import { connect } from "node:tls";
import { readTls, serverNamesOf, tlsTo, type TlsMaterial } from "../../core/config/tls-material.ts";
import { answeringNodes } from "./nodes.ts";
import type { DoctorContext } from "../../core/command/doctor/doctor-context.ts";
import { validityProblems } from "../../core/config/tls-problems.ts";
import {
  checkClusterFiles,
  checkListenerFiles,
  checkNamedFiles,
  diagnoseTls,
  poolerFiles,
} from "../../core/command/doctor/file-findings.ts";

/**
 * Checks the configured TLS files, of listeners and of connections to the nodes (RC109, RC111, RC114, RC115), and the
 * expiry of the certificates that nodes present (RC109).
 */
export async function checkTls(context: DoctorContext): Promise<void> {
  const { command, config, probed } = context;
  const files = config.clusters.flatMap(({ tls }) => [tls?.ca, tls?.cert].filter((file) => typeof file === "string"));
  checkClusterFiles(command.result, config);
  checkNamedFiles(command.result, [...poolerFiles(config), ...featureFiles.flatMap((filesOf) => filesOf(config))]);
  const listeners = checkListenerFiles(command.result, config);
  const servers = probed.snapshot.clusters.flatMap((state) =>
    answeringNodes(state).flatMap(({ node }) =>
      node.api?.startsWith("https:") === true ? [{ cluster: state.name, node: node.name, api: node.api }] : [],
    ),
  );
  const presented = await Promise.all(
    servers.map(async ({ cluster, node, api }) => ({
      name: `${cluster}/${node}`,
      validity: await presentedValidity(api, { tls: tlsOf(context, cluster, api), timeoutMs: config.probe.timeoutMs }),
    })),
  );
  for (const { name, validity } of presented) {
    const problems = validity === null ? [] : validityProblems(validity, `the certificate of ${name}`, Date.now());
    for (const problem of problems) diagnoseTls(command.result, problem, null);
  }
  if (files.length === 0 && servers.length === 0 && listeners === 0)
    command.result.cover("tls", "not_applicable", { detail: "no TLS towards the nodes, none on the listeners" });
  else {
    const missing = presented.filter(({ validity }) => validity === null).map(({ name }) => name);
    const detail =
      missing.length === 0
        ? checkedText({ files: files.length, nodes: servers.length, listeners })
        : `no certificate received from ${missing.join(", ")}`;
    command.result.cover("tls", missing.length === 0 ? "complete" : "incomplete", { detail });
  }
}

/** What was checked, without what there is none of. */
function checkedText(counts: { readonly files: number; readonly nodes: number; readonly listeners: number }): string {
  const { files, nodes, listeners } = counts;
  return [
    ...(files === 0 ? [] : [`${countText(files, "file")} for connections to nodes`]),
    ...(nodes === 0 ? [] : [`the certificates of ${countText(nodes, "node")}`]),
    ...(listeners === 0 ? [] : [`the files of ${countText(listeners, "listener")}`]),
  ].join(", ");
}

/** The TLS material for a node; `null` if it has none or its files cannot be read, which RC111 reports. */
export function tlsOf({ config }: DoctorContext, cluster: string, api: string): TlsMaterial | null {
  const found = config.clusters.find(({ name }) => name === cluster);
  if (found === undefined) return null;
  try {
    return tlsTo(api, found.tls === null ? null : readTls(found.tls), serverNamesOf(found));
  } catch {
    return null;
  }
}

/** When the certificate that a node presents is valid; `null` if none was received. Untrusted ones count too. */
function presentedValidity(
  api: string,
  { tls, timeoutMs }: { readonly tls: TlsMaterial | null; readonly timeoutMs: number },
): Promise<{ readonly validFrom: string; readonly validTo: string } | null> {
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
        const { valid_from: validFrom, valid_to: validTo } = socket.getPeerCertificate();
        socket.destroy();
        resolve(typeof validTo === "string" ? { validFrom, validTo } : null);
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
