import { createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { statSync } from "node:fs";
import { readRegularFile } from "../files/regular-file.ts";

/** TLS files as a configuration names them: absolute paths. */
interface TlsFileNames {
  readonly cert: string | null;
  readonly key: string | null;
  readonly ca: string | null;
}

/** What is wrong with a TLS file. `unusable` keeps a listener from opening, or a connection from being made. */
export type TlsProblemKind = "unusable" | "expired" | "expiring" | "not_yet_valid" | "readable_by_others";

/** A problem with one file. */
export interface TlsProblem {
  readonly kind: TlsProblemKind;
  readonly file: string;
  /** A sentence that begins with the file's name. */
  readonly message: string;
}

/** A certificate that expires within this time is reported, in days. */
const minDaysLeft = 30;
const dayMs = 86_400_000;

/**
 * Reads the TLS files of a listener, or of the connections to a cluster's nodes, and says what is wrong with them.
 * Never throws.
 * @param nowMs the time, in ms since the epoch
 */
export function tlsProblems({ cert, key, ca }: TlsFileNames, nowMs: number): readonly TlsProblem[] {
  const problems: TlsProblem[] = [];
  const certificates = cert === null ? [] : certificatesOf(cert, problems);
  const privateKey = key === null ? undefined : privateKeyOf(key, problems);
  const [own] = certificates;
  if (
    cert !== null &&
    key !== null &&
    own !== undefined &&
    privateKey !== undefined &&
    !own.checkPrivateKey(privateKey)
  )
    problems.push({ kind: "unusable", file: key, message: `${key} is not the key of the certificate in ${cert}` });
  const dated = [
    ...certificates.map((certificate) => ({ certificate, file: cert ?? "" })),
    ...(ca === null ? [] : certificatesOf(ca, problems)).map((certificate) => ({ certificate, file: ca ?? "" })),
  ];
  return [...problems, ...dated.flatMap(({ certificate, file }) => validityProblems(certificate, file, nowMs))];
}

/**
 * Says whether a certificate has expired, expires soon or is not valid yet.
 * @param subject the file, or whose certificate it is
 */
export function validityProblems(
  { validFrom, validTo }: Pick<X509Certificate, "validFrom" | "validTo">,
  subject: string,
  nowMs: number,
): readonly TlsProblem[] {
  const [from, to] = [new Date(validFrom), new Date(validTo)];
  if (from.getTime() > nowMs)
    return [{ kind: "not_yet_valid", file: subject, message: `${subject} is not valid before ${from.toISOString()}` }];
  const days = Math.floor((to.getTime() - nowMs) / dayMs);
  if (days >= minDaysLeft) return [];
  const hasExpired = days < 0;
  const when = hasExpired ? "has expired" : `expires in ${days} days`;
  return [
    { kind: hasExpired ? "expired" : "expiring", file: subject, message: `${subject} ${when}: ${to.toISOString()}` },
  ];
}

function certificatesOf(file: string, problems: TlsProblem[]): readonly X509Certificate[] {
  const text = textOf(file, problems);
  if (text === null) return [];
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0)
    problems.push({ kind: "unusable", file, message: `${file} must contain a PEM certificate, got none` });
  return blocks.flatMap((pem) => {
    try {
      return [new X509Certificate(pem)];
    } catch (error) {
      problems.push({
        kind: "unusable",
        file,
        message: `${file} contains an unreadable certificate: ${causeOf(error)}`,
      });
      return [];
    }
  });
}

function privateKeyOf(file: string, problems: TlsProblem[]): KeyObject | undefined {
  const text = textOf(file, problems);
  if (text === null) return undefined;
  if ((statSync(file).mode & 0o004) !== 0)
    problems.push({ kind: "readable_by_others", file, message: `${file} is a private key that every user can read` });
  try {
    return createPrivateKey(text);
  } catch (error) {
    const allowed = "must contain a PEM private key without a passphrase";
    problems.push({ kind: "unusable", file, message: `${file} ${allowed}, got: ${causeOf(error)}` });
    return undefined;
  }
}

function textOf(file: string, problems: TlsProblem[]): string | null {
  try {
    return readRegularFile(file);
  } catch (error) {
    problems.push({ kind: "unusable", file, message: `${file} cannot be read: ${causeOf(error)}` });
    return null;
  }
}

/** Without the name of the file, which the error of the system repeats. */
function causeOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/, \w+ '.*'$/, "") : String(error);
}
