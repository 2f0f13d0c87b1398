import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { ListenerAccess } from "../../config/model/listener-access-config.ts";
import { readTls, tlsPathsOf } from "../../config/tls-material.ts";
import { WatchedFiles } from "../../config/watched-files.ts";

/** A bearer token as it is compared: never itself. */
export interface BearerToken {
  readonly digest: Buffer;
  /** Where it stands, for the audit: `tokens.txt:2`. */
  readonly name: string;
}

/** Told that a door's files were read; a problem is a sentence, `null` is none. */
export type OnCredentialFiles = (problem: string | null) => void;

/** What a door's files say. */
export interface ListenerCredentials {
  readonly tls: SecureContextOptions;
  readonly tokens: readonly BearerToken[];
}

/**
 * Reads the TLS files and bearer tokens of a door.
 * @throws Error where a file cannot be read, or certificate and key do not fit: a door does not open half locked
 */
export function readCredentials(access: ListenerAccess): ListenerCredentials {
  const tls = readTlsOf(access);
  if (access.tls !== null) createSecureContext(tls);
  return { tls, tokens: readTokensOf(access) };
}

/** Reads a door's files again when they change. What cannot be read is told of, and what was read before stays. */
export class CredentialFiles {
  readonly #files: WatchedFiles<ListenerCredentials>;
  #material: ListenerCredentials;

  /** @param onChange called with what was read anew */
  constructor(access: ListenerAccess, material: ListenerCredentials, { onFiles, onChange }: DoorFilesEvents) {
    this.#material = material;
    const paths = [...tlsPathsOf(access.tls), ...(access.auth?.bearer ?? [])];
    this.#files = new WatchedFiles(paths, () => readCredentials(access), {
      onProblem: onFiles,
      onChange: (renewed) => {
        this.#material = renewed;
        onChange(renewed);
        onFiles(null);
      },
    });
  }

  /** Watches the files from now on. */
  start(): void {
    this.#files.start();
  }

  get tokens(): readonly BearerToken[] {
    return this.#material.tokens;
  }

  close(): void {
    this.#files.close();
  }
}

/** What the files of a door tell of. */
interface DoorFilesEvents {
  readonly onFiles: OnCredentialFiles;
  readonly onChange: (material: ListenerCredentials) => void;
}

function readTlsOf({ tls }: ListenerAccess): SecureContextOptions {
  if (tls === null) return {};
  return { ...readTls(tls), minVersion: tls.minVersion };
}

/** One token a line; empty lines and those that begin with # say nothing. */
function readTokensOf({ auth }: ListenerAccess): readonly BearerToken[] {
  return (auth?.bearer ?? []).flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .slice(0, 1_000)
      .flatMap((line, at) => {
        const token = line.trim();
        return token === "" || token.startsWith("#")
          ? []
          : [{ digest: digestOf(token), name: `${basename(file)}:${at + 1}` }];
      }),
  );
}

/** Digests have one length, so that comparing them takes one time. */
export function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
