import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Files of one certificate. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
}

/** An authority of a test's own, made with openssl in a temporary folder. */
export class Authority {
  readonly folder: string;
  /** The authority's own certificate. */
  readonly ca: string;
  readonly #key: string;

  constructor(name = "authority") {
    this.folder = mkdtempSync(join(tmpdir(), "rolecall-tls-"));
    this.ca = join(this.folder, `${name}.pem`);
    this.#key = join(this.folder, `${name}.key`);
    openssl("req", "-x509", ...newKey(this.#key), "-out", this.ca, "-days", "2", "-subj", `/CN=${name}`);
  }

  /** Signs a certificate for 127.0.0.1, ::1 and localhost. A second one of the same name takes the first one's place. */
  issue(name: string): Issued {
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

function newKey(file: string): readonly string[] {
  return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file];
}

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
}
