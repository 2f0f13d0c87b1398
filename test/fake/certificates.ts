import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** A certificate that signed itself, for 127.0.0.1 and a name, in files that go with the test. */
export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

/** @param days how long it is valid from now on */
export function makeCertificate(context: TestContext, names = "IP:127.0.0.1,DNS:db.internal", days = 2): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "rolecall-tls-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const subject = ["-subj", "/CN=rolecall test", "-addext", `subjectAltName=${names}`, "-days", String(days)];
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-keyout",
      keyFile,
      "-out",
      certFile,
      ...subject,
    ],
    {
      stdio: "ignore",
    },
  );
  return { certFile, keyFile, cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
}

/** The same certificate as one that ended yesterday; the name of its file, which goes with the first one's. */
export function expired({ certFile, keyFile }: Certificate): string {
  const file = certFile.replace(/cert\.pem$/, "expired.pem");
  execFileSync("openssl", ["x509", "-in", certFile, "-signkey", keyFile, "-days", "-1", "-out", file], {
    stdio: "ignore",
  });
  return file;
}
