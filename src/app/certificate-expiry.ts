import { X509Certificate } from "node:crypto";
import type { Config } from "../core/config/model/config.ts";
import { WatchedFiles } from "../core/config/watched-files.ts";
import type { CertificateReading } from "../core/metrics/sources.ts";
import { readRegularFile } from "../core/files/regular-file.ts";

const pemPattern = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

type CertificateFile = Omit<CertificateReading, "expiresAtS">;

/**
 * When the certificates of the listeners, and those that rolecall presents to the nodes, expire. Read at the start, at
 * a reload, and when a file changes. A file that cannot be read has no reading: the module that uses the certificate
 * reports the problem.
 */
export class CertificateExpiry {
  readonly #onRead: (readings: readonly CertificateReading[]) => void;
  #files: WatchedFiles<readonly CertificateReading[]> | null = null;
  #readings: readonly CertificateReading[] = [];

  /** @param onRead called with all readings whenever the files were read */
  constructor(onRead: (readings: readonly CertificateReading[]) => void) {
    this.#onRead = onRead;
  }

  /** Reads and watches the certificates of a configuration, in place of those watched so far. */
  start(config: Config): void {
    this.stop();
    const certificates = certificateFilesOf(config);
    const files = new WatchedFiles<readonly CertificateReading[]>(
      certificates.map(({ file }) => file),
      () => certificates.flatMap(readingOf),
      { onChange: (readings) => this.#take(readings), onProblem: () => {} },
    );
    this.#take(files.read() ?? []);
    files.start();
    this.#files = files;
  }

  stop(): void {
    this.#files?.close();
    this.#files = null;
  }

  get readings(): readonly CertificateReading[] {
    return this.#readings;
  }

  #take(readings: readonly CertificateReading[]): void {
    this.#readings = readings;
    this.#onRead(readings);
  }
}

function certificateFilesOf({ listen, clusters }: Config): readonly CertificateFile[] {
  return [
    ...listen.flatMap(({ address, port, access: { tls } }) =>
      tls === null ? [] : [{ usage: "listener" as const, owner: `${address}:${port}`, file: tls.cert }],
    ),
    ...clusters.flatMap(({ name, tls }) =>
      tls === null || tls.cert === null ? [] : [{ usage: "client" as const, owner: name, file: tls.cert }],
    ),
  ];
}

/** The certificate of a chain that expires first counts: a client refuses the whole chain then. */
function readingOf(certificate: CertificateFile): readonly CertificateReading[] {
  try {
    const pems = readRegularFile(certificate.file).match(pemPattern) ?? [];
    const expiries = pems.map((pem) => Date.parse(new X509Certificate(pem).validTo) / 1000);
    const expiresAtS = Math.min(...expiries);
    return Number.isFinite(expiresAtS) ? [{ ...certificate, expiresAtS }] : [];
  } catch {
    return [];
  }
}
