import { readFileSync } from "node:fs";
import { readTls, tlsPathsOf } from "./tls-material.js";
/**
 * Reads TLS files, and the password on the first line of its file.
 * @throws Error with the file's name if a file cannot be read
 */
export function readAccess({ tls, auth }) {
    return {
        tls: tls === null ? {} : readTls(tls),
        auth: auth === null ? null : { user: auth.user, password: firstLine(auth.passwordFile) },
    };
}
/** The paths of these files, to be watched. */
export function accessPathsOf({ tls, auth }) {
    return [...tlsPathsOf(tls), ...(auth === null ? [] : [auth.passwordFile])];
}
function firstLine(file) {
    return readFileSync(file, "utf8").split(/\r?\n/, 1)[0] ?? "";
}
//# sourceMappingURL=access-material.js.map