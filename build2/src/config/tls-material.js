import { readFileSync } from "node:fs";
/**
 * Reads TLS files, of a listener or of the connections to a cluster's nodes.
 * @throws Error with the file's name if a file cannot be read
 */
export function readTls({ ca, cert, key, serverName = null }) {
    return {
        ...(ca === null ? {} : { ca: readFileSync(ca, "utf8") }),
        ...(cert === null ? {} : { cert: readFileSync(cert, "utf8") }),
        ...(key === null ? {} : { key: readFileSync(key, "utf8") }),
        ...(serverName === null ? {} : { servername: serverName }),
    };
}
/** The paths of the configured TLS files, to be watched. */
export function tlsPathsOf(tls) {
    return tls === null ? [] : [tls.ca, tls.cert, tls.key].filter((path) => path !== null);
}
//# sourceMappingURL=tls-material.js.map