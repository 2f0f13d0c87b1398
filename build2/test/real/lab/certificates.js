/**
 * Certificates for one run: an authority of its own, and a server certificate for 127.0.0.1 that it signed. Valid for a
 * day.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
/**
 * Makes them in a folder, with openssl(1).
 * @throws Error with the output of openssl
 */
export function makeCertificates(folder) {
    const [authorityFile, authorityKey] = [join(folder, "authority.pem"), join(folder, "authority.key")];
    const [certificateFile, keyFile, requestFile] = [
        join(folder, "server.pem"),
        join(folder, "server.key"),
        join(folder, "server.csr"),
    ];
    const extensions = join(folder, "server.ext");
    writeFileSync(extensions, "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n");
    const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    openssl("req", "-x509", ...newKey, "-keyout", authorityKey, "-out", authorityFile, "-days", "1", "-subj", "/CN=authority of one test run");
    openssl("req", "-new", ...newKey, "-keyout", keyFile, "-out", requestFile, "-subj", "/CN=node");
    const signedBy = ["-CA", authorityFile, "-CAkey", authorityKey, "-CAcreateserial"];
    openssl("x509", "-req", "-in", requestFile, ...signedBy, "-days", "1", "-extfile", extensions, "-out", certificateFile);
    return { authority: readFileSync(authorityFile, "utf8"), authorityFile, certificateFile, keyFile };
}
function openssl(...args) {
    execFileSync("openssl", args, { stdio: "pipe", timeout: 10_000 });
}
//# sourceMappingURL=certificates.js.map