import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
/** A certificate authority in a temporary folder, made with openssl. */
export class CertificateAuthority {
    folder;
    /** File of the authority's own certificate. */
    ca;
    #key;
    constructor(name = "authority") {
        this.folder = mkdtempSync(join(tmpdir(), "rolecall-tls-"));
        this.ca = join(this.folder, `${name}.pem`);
        this.#key = join(this.folder, `${name}.key`);
        openssl("req", "-x509", ...newKey(this.#key), "-out", this.ca, "-days", "2", "-subj", `/CN=${name}`);
    }
    /** Signs a certificate for 127.0.0.1, ::1 and localhost. A second one of the same name replaces the first. */
    issue(name) {
        const [cert, key, request, extensions] = [".pem", ".key", ".csr", ".ext"].map((end) => join(this.folder, `${name}${end}`));
        writeFileSync(extensions, "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost\n");
        openssl("req", "-new", ...newKey(key), "-out", request, "-subj", `/CN=${name}`);
        const signer = ["-CA", this.ca, "-CAkey", this.#key, "-CAcreateserial"];
        openssl("x509", "-req", "-in", request, ...signer, "-out", cert, "-days", "2", "-extfile", extensions);
        return { cert, key };
    }
    remove() {
        rmSync(this.folder, { recursive: true, force: true });
    }
}
/** @param days how long it is valid, from now on */
export function selfSignedCertificate(context, names = "IP:127.0.0.1,DNS:db.internal", days = 2) {
    const folder = mkdtempSync(join(tmpdir(), "rolecall-tls-"));
    context.after(() => rmSync(folder, { recursive: true }));
    const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    const subject = ["-subj", "/CN=rolecall test", "-addext", `subjectAltName=${names}`, "-days", String(days)];
    openssl("req", "-x509", ...newKey(keyFile), "-out", certFile, ...subject);
    return { certFile, keyFile, cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
}
/** Writes a copy of the certificate that expired yesterday. @returns its file, in the folder of the first one */
export function expiredCopyOf({ certFile, keyFile }) {
    const file = certFile.replace(/cert\.pem$/, "expired.pem");
    openssl("x509", "-in", certFile, "-signkey", keyFile, "-days", "-1", "-out", file);
    return file;
}
function newKey(file) {
    return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file];
}
function openssl(...args) {
    execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}
//# sourceMappingURL=certificates.js.map