import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** Files of one certificate. */
export interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority in a temporary folder, made with openssl. */
export class CertificateAuthority {
  readonly folder: string;
  /** File of the authority's own certificate. */
  readonly ca: string;
  readonly #key: string;

  constructor(name = "authority") {
    this.folder = mkdtempSync(join(tmpdir(), "rolecall-tls-"));
    this.ca = join(this.folder, `${name}.pem`);
    this.#key = join(this.folder, `${name}.key`);
    openssl("req", "-x509", ...newKey(this.#key), "-out", this.ca, "-days", "2", "-subj", `/CN=${name}`);
  }

  /** Signs a certificate for 127.0.0.1, ::1 and localhost. A second one of the same name replaces the first. */
  issue(name: string): IssuedCertificate {
    const [cert, key, request, extensions] = [".pem", ".key", ".csr", ".ext"].map((end) =>
      join(this.folder, `${name}${end}`),
    ) as [string, string, string, string];
    writeFileSync(extensions, "subjectAltName=IP:127.0.0.1,IP:::1,DNS:localhost\n");
    openssl("req", "-new", ...newKey(key), "-out", request, "-subj", `/CN=${name}`);
    const signer = ["-CA", this.ca, "-CAkey", this.#key, "-CAcreateserial"];
    openssl("x509", "-req", "-in", request, ...signer, "-out", cert, "-days", "2", "-extfile", extensions);
    return { cert, key };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A self-signed certificate, in files that are deleted when the test ends. */
export interface SelfSignedCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

/** @param days how long it is valid, from now on */
export function selfSignedCertificate(
  context: TestContext,
  names = "IP:127.0.0.1,DNS:db.internal",
  days = 2,
): SelfSignedCertificate {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-tls-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const subject = ["-subj", "/CN=rolecall test", "-addext", `subjectAltName=${names}`, "-days", String(days)];
  openssl("req", "-x509", ...newKey(keyFile), "-out", certFile, ...subject);
  return { certFile, keyFile, cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
}

/** Writes a copy of the certificate that expired yesterday. @returns its file, in the folder of the first one */
export function expiredCopyOf({ certFile, keyFile }: SelfSignedCertificate): string {
  const file = certFile.replace(/cert\.pem$/, "expired.pem");
  openssl("x509", "-in", certFile, "-signkey", keyFile, "-days", "-1", "-out", file);
  return file;
}

function newKey(file: string): readonly string[] {
  return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file];
}

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}
