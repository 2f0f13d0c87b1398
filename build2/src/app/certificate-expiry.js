import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { WatchedFiles } from "../config/watched-files.js";
const pemPattern = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
/**
 * When the certificates of the listeners, and those that rolecall presents to the nodes, expire. Read at the start, at
 * a reload, and when a file changes. A file that cannot be read has no reading: the module that uses the certificate
 * reports the problem.
 */
export class CertificateExpiry {
    #onRead;
    #files = null;
    #readings = [];
    /** @param onRead called with all readings whenever the files were read */
    constructor(onRead) {
        this.#onRead = onRead;
    }
    /** Reads and watches the certificates of a configuration, in place of those watched so far. */
    start(config) {
        this.stop();
        const certificates = certificateFilesOf(config);
        const files = new WatchedFiles(certificates.map(({ file }) => file), () => certificates.flatMap(readingOf), { onChange: (readings) => this.#take(readings), onProblem: () => { } });
        this.#take(files.read() ?? []);
        files.start();
        this.#files = files;
    }
    stop() {
        this.#files?.close();
        this.#files = null;
    }
    get readings() {
        return this.#readings;
    }
    #take(readings) {
        this.#readings = readings;
        this.#onRead(readings);
    }
}
function certificateFilesOf({ listen, clusters }) {
    return [
        ...listen.flatMap(({ address, port, access: { tls } }) => tls === null ? [] : [{ usage: "listener", owner: `${address}:${port}`, file: tls.cert }]),
        ...clusters.flatMap(({ name, tls }) => tls === null || tls.cert === null ? [] : [{ usage: "client", owner: name, file: tls.cert }]),
    ];
}
/** The certificate of a chain that expires first counts: a client refuses the whole chain then. */
function readingOf(certificate) {
    try {
        const pems = readFileSync(certificate.file, "utf8").match(pemPattern) ?? [];
        const expiries = pems.map((pem) => Date.parse(new X509Certificate(pem).validTo) / 1000);
        const expiresAtS = Math.min(...expiries);
        return Number.isFinite(expiresAtS) ? [{ ...certificate, expiresAtS }] : [];
    }
    catch {
        return [];
    }
}
//# sourceMappingURL=certificate-expiry.js.map