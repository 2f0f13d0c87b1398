import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { createSecureContext } from "node:tls";
import { readTls, tlsPathsOf } from "../../config/tls-material.js";
import { WatchedFiles } from "../../config/watched-files.js";
/**
 * Reads the TLS files and bearer tokens of a listener.
 * @throws Error if a file cannot be read, or certificate and key do not match: the listener must not open without them
 */
export function readCredentials(access) {
    const tls = readTlsOf(access);
    if (access.tls !== null)
        refuseUnusable(access.tls, tls);
    return { tls, tokens: readTokens(access.auth?.bearer ?? []), hintTokens: readTokens(access.hintTokens) };
}
/** OpenSSL says what is wrong, but not in which file. */
function refuseUnusable({ cert, key, ca }, tls) {
    try {
        createSecureContext(tls);
    }
    catch (error) {
        const files = [cert, key, ...(ca === null ? [] : [ca])].join(", ");
        throw new Error(`${error instanceof Error ? error.message : String(error)} (${files})`, { cause: error });
    }
}
/** Reads a listener's files again when they change. If that fails, reports the problem and keeps the last content. */
export class CredentialFiles {
    #files;
    #credentials;
    /** @param onChange called with the new content */
    constructor(access, credentials, { onReadResult, onChange }) {
        this.#credentials = credentials;
        const paths = [...tlsPathsOf(access.tls), ...(access.auth?.bearer ?? []), ...access.hintTokens];
        this.#files = new WatchedFiles(paths, () => readCredentials(access), {
            onProblem: onReadResult,
            onChange: (renewed) => {
                this.#credentials = renewed;
                onChange(renewed);
                onReadResult(null);
            },
        });
    }
    /** Watches the files from now on. */
    start() {
        this.#files.start();
    }
    get tokens() {
        return this.#credentials.tokens;
    }
    get hintTokens() {
        return this.#credentials.hintTokens;
    }
    close() {
        this.#files.close();
    }
}
function readTlsOf({ tls }) {
    if (tls === null)
        return {};
    return { ...readTls(tls), minVersion: tls.minVersion };
}
/** One token a line. Empty lines and lines that begin with # are ignored. */
function readTokens(files) {
    return files.flatMap((file) => readFileSync(file, "utf8")
        .split("\n")
        .slice(0, 1_000)
        .flatMap((line, at) => {
        const token = line.trim();
        return token === "" || token.startsWith("#")
            ? []
            : [{ digest: digestOf(token), name: `${basename(file)}:${at + 1}` }];
    }));
}
/** Returns the digest of a token. Digests have the same length, so that comparing them takes constant time. */
export function digestOf(token) {
    return createHash("sha256").update(token).digest();
}
//# sourceMappingURL=credential-files.js.map