import { readRegularFile } from "../files/regular-file.ts";
import type { NodeAuth, TlsFiles } from "./model/config.ts";
import { readTls, tlsPathsOf, type TlsMaterial } from "./tls-material.ts";

/** The files that give access to the nodes of a cluster, or to its DCS. */
interface AccessFiles {
  readonly tls: TlsFiles | null;
  readonly auth: NodeAuth | null;
}

/** Their content. */
export interface AccessMaterial {
  readonly tls: TlsMaterial;
  readonly auth: { readonly user: string; readonly password: string } | null;
}

/**
 * Reads TLS files, and the password on the first line of its file.
 * @throws Error with the file's name if a file cannot be read, or is no regular file
 */
export function readAccess({ tls, auth }: AccessFiles): AccessMaterial {
  return {
    tls: tls === null ? {} : readTls(tls),
    auth: auth === null ? null : { user: auth.user, password: firstLine(auth.passwordFile) },
  };
}

/** The paths of these files, to be watched. */
export function accessPathsOf({ tls, auth }: AccessFiles): readonly string[] {
  return [...tlsPathsOf(tls), ...(auth === null ? [] : [auth.passwordFile])];
}

/**
 * Reads a secret: the first line of its file.
 * @throws Error with the file's name if it cannot be read, or is no regular file
 */
export function firstLine(file: string): string {
  return secretText(file).split(/\r?\n/, 1)[0] ?? "";
}

/**
 * Reads a file with secrets. Editors on Windows write UTF-16 where asked to: nobody would know such a secret.
 * @throws Error with the file's name if it cannot be read, is no regular file, or is not UTF-8
 */
export function secretText(file: string): string {
  const text = readRegularFile(file).replace(/^\ufeff/, "");
  if (text.includes("\0") || text.includes("\ufffd"))
    throw new Error(`Cannot use ${file}: its text must be UTF-8, got another encoding such as UTF-16`);
  return text;
}
