import { errorMessage } from "../../cluster/values/error-message.ts";
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import type { ListenerAccess, ListenerTls } from "../../config/model/listener-access-config.ts";
import { readTls, tlsPathsOf } from "../../config/tls-material.ts";
import { WatchedFiles } from "../../config/watched-files.ts";
import { secretText } from "../../config/access-material.ts";
import type { TokenScope } from "../message/handler.ts";

/** A bearer token as its digest: the token itself is not kept. */
export interface BearerToken {
  readonly digest: Buffer;
  /** File and line, for the audit record: `tokens.txt:2`. */
  readonly name: string;
}

/** Called after each attempt to read a listener's files. `problem` is a sentence; `null` on success. */
export type OnCredentialsRead = (problem: string | null) => void;

/** The content of a listener's files. */
export interface ListenerCredentials {
  readonly tls: SecureContextOptions;
  readonly tokens: readonly BearerToken[];
  /** Tokens that one kind of call accepts, and nothing else. */
  readonly scoped: ReadonlyMap<TokenScope, readonly BearerToken[]>;
}

/**
 * Reads the TLS files and bearer tokens of a listener.
 * @throws Error if a file cannot be read, or certificate and key do not match: the listener must not open without them
 */
export function readCredentials(access: ListenerAccess): ListenerCredentials {
  const tls = readTlsOf(access);
  if (access.tls !== null) refuseUnusable(access.tls, tls);
  const scoped = new Map([...scopedFiles(access)].map(([scope, files]) => [scope, readTokens(files)]));
  return { tls, tokens: readTokens(access.auth?.bearer ?? []), scoped };
}

/** The files with the tokens of each kind of call that has tokens of its own. */
export function scopedFiles({
  hintTokens,
  pauseTokens,
  beforeStopTokens,
  followers,
}: ListenerAccess): ReadonlyMap<TokenScope, readonly string[]> {
  const scoped = new Map<TokenScope, readonly string[]>();
  if (hintTokens.length > 0) scoped.set("hint", hintTokens);
  if (pauseTokens.length > 0) scoped.set("pause", pauseTokens);
  const followerFiles = followers.flatMap(({ tokenFile }) => tokenFile ?? []);
  if (followerFiles.length > 0) scoped.set("feed", followerFiles);
  for (const { cluster, file } of beforeStopTokens)
    scoped.set(`before_stop ${cluster}`, [...(scoped.get(`before_stop ${cluster}`) ?? []), file]);
  return scoped;
}

/** OpenSSL says what is wrong, but not in which file. */
function refuseUnusable({ cert, key, ca }: ListenerTls, tls: SecureContextOptions): void {
  try {
    createSecureContext(tls);
  } catch (error) {
    const files = [cert, key, ...(ca === null ? [] : [ca])].join(", ");
    throw new Error(`${errorMessage(error)} (${files})`, { cause: error });
  }
}

/** Reads a listener's files again when they change. If that fails, reports the problem and keeps the last content. */
export class CredentialFiles {
  readonly #files: WatchedFiles<ListenerCredentials>;
  #credentials: ListenerCredentials;

  /** @param onChange called with the new content */
  constructor(
    access: ListenerAccess,
    credentials: ListenerCredentials,
    { onReadResult, onChange }: CredentialFilesEvents,
  ) {
    this.#credentials = credentials;
    const paths = [
      ...tlsPathsOf(access.tls),
      ...(access.auth?.bearer ?? []),
      ...[...scopedFiles(access).values()].flat(),
    ];
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
  start(): void {
    this.#files.start();
  }

  get tokens(): readonly BearerToken[] {
    return this.#credentials.tokens;
  }

  get scoped(): ListenerCredentials["scoped"] {
    return this.#credentials.scoped;
  }

  close(): void {
    this.#files.close();
  }
}

/** Events of a listener's files. */
interface CredentialFilesEvents {
  readonly onReadResult: OnCredentialsRead;
  readonly onChange: (credentials: ListenerCredentials) => void;
}

function readTlsOf({ tls }: ListenerAccess): SecureContextOptions {
  if (tls === null) return {};
  return { ...readTls(tls), minVersion: tls.minVersion };
}

/** One token a line. Empty lines and lines that begin with # are ignored. */
function readTokens(files: readonly string[]): readonly BearerToken[] {
  return files.flatMap((file) =>
    secretText(file)
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

/** Returns the digest of a token. Digests have the same length, so that comparing them takes constant time. */
export function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
