import type { Logger } from "../../core/log/logger.ts";

/** A certificate that rolecall presents: as a listener to its clients, or as a client to a cluster's nodes. */
interface ExpiringCertificate {
  readonly usage: "listener" | "client";
  /** The address of the listener, or the name of the cluster. */
  readonly owner: string;
  readonly file: string;
  /** In seconds since the epoch. */
  readonly expiresAtS: number;
}

/** How long before its expiry a certificate is logged, in ms: long enough for a renewal by hand. */
const warnedBeforeMs = 14 * 24 * 60 * 60 * 1_000;

/**
 * Logs the certificates that have expired, or that expire within 14 days. Called when the files are read.
 * @param nowWallMs the present instant, in ms since the epoch
 */
export function logExpiring(log: Logger, certificates: readonly ExpiringCertificate[], nowWallMs: number): void {
  for (const { usage, owner, file, expiresAtS } of certificates) {
    const leftMs = expiresAtS * 1_000 - nowWallMs;
    if (leftMs > warnedBeforeMs) continue;
    const fields = {
      ...(usage === "listener" ? { listener: owner } : { cluster: owner }),
      file,
      expires_at: new Date(expiresAtS * 1_000).toISOString(),
    };
    if (leftMs <= 0) log.error(fields, "certificate expired");
    else log.warn(fields, "certificate expires soon");
  }
}

/**
 * Logs a read of the TLS files of a cluster.
 * @param problem why they could not be read; `null` if they were
 */
export function logTlsFiles(log: Logger, cluster: string, problem: string | null): void {
  if (problem === null) log.info({ cluster, problem }, "TLS files read");
  else log.error({ cluster, problem }, "TLS files not read");
}
