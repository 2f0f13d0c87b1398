import { labelsText, sampleLine, type Family } from "../exposition/writer.ts";

/** When a certificate expires. */
export interface CertificateReading {
  /** `listener`: presented to clients; `client`: presented to the nodes of a cluster. */
  readonly usage: "listener" | "client";
  /** The address of the listener, or the name of the cluster. */
  readonly owner: string;
  /** The absolute path of its file. */
  readonly file: string;
  /** In seconds since the epoch. */
  readonly expiresAtS: number;
}

const name = "rolecall_certificate_expiry_timestamp_seconds";

/** When the certificates expire that rolecall presents. */
export function certificateMetrics(readings: readonly CertificateReading[]): Family {
  return {
    name,
    type: "gauge",
    help: "When the certificate of a listener, or the one presented to a cluster's nodes (usage client), expires.",
    samples: () =>
      readings.map(({ usage, owner, file, expiresAtS }) => {
        const labels = usage === "listener" ? { usage, listener: owner, file } : { usage, cluster: owner, file };
        return sampleLine(name, labelsText(labels), expiresAtS);
      }),
  };
}
