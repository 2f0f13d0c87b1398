import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import type { Caller } from "../message/caller.ts";
import { clientAddressOf } from "./client-addresses.ts";
import { hasVerifiedCertificate } from "./verified-certificate.ts";
import type { ListenerAccess, GuardedCalls } from "../../config/model/listener-access-config.ts";
import { digestOf, scopedFiles, type BearerToken, type CredentialFiles } from "./credential-files.ts";
import { allowlistOf } from "./ip-allowlist.ts";
import { BasicAuth } from "./basic-auth.ts";
import type { PasswordVerdict } from "./password-queue.ts";
import type { TokenScope } from "../message/handler.ts";
import { errorReply, type Reply } from "../message/reply.ts";

/** The caller of an authorized request, or the reply that refuses it. */
export type AuthDecision = { readonly caller: Caller } | { readonly refusal: Reply };

/** What a request may do: `safe`: it changes nothing; `unsafe`: it may change state; else tokens of its own permit it. */
export type RequestKind = "safe" | "unsafe" | TokenScope;

/** Authorizes the requests of one listener: all of them, or only those that change state. */
export class AccessControl {
  readonly #access: ListenerAccess;
  readonly #files: Pick<CredentialFiles, "tokens" | "scoped">;
  readonly #isAllowed: ((address: string) => boolean) | null;
  readonly #passwords: BasicAuth;
  readonly #challenges: readonly string[];

  constructor(access: ListenerAccess, files: Pick<CredentialFiles, "tokens" | "scoped">) {
    this.#access = access;
    this.#files = files;
    this.#isAllowed = access.allow === null ? null : allowlistOf(access.allow);
    this.#passwords = new BasicAuth(access.auth?.basic ?? []);
    this.#challenges = challengesOf(access);
  }

  /**
   * Authorizes a request by address and credential. Returns a promise only if a password has to be hashed. On a
   * listener with hint tokens, a hint needs one of them or another credential of the listener, whatever `auth` is for;
   * and so do the other calls that have tokens of their own.
   */
  authorize(message: IncomingMessage, kind: RequestKind): AuthDecision | Promise<AuthDecision> {
    const { auth, allowFor } = this.#access;
    const isUnsafe = kind !== "safe";
    const isScoped = kind !== "safe" && kind !== "unsafe";
    const needsToken = isScoped && scopedFiles(this.#access).has(kind);
    const address = clientAddressOf(message.socket);
    if (this.#isAllowed !== null && isFor(allowFor, isUnsafe) && !this.#isAllowed(address)) {
      const text = `Cannot accept a request from ${address}: it must be in one of the networks in allow`;
      return {
        refusal: errorReply(403, "not_allowed", { message: text, headers: ["X-Rolecall-Reason", "not_allowed"] }),
      };
    }
    const client = { address, consumesAuthorization: auth !== null };
    const certificate = certificateOf(message);
    if (!needsToken && (auth === null || !isFor(auth.for, isUnsafe)))
      return { caller: { ...client, principal: certificate } };
    const isCredential = auth?.certificate === true || (kind === "feed" && this.#access.followers.some(hasCertificate));
    const { tokens, scoped } = this.#files;
    const known = isScoped ? [...tokens, ...(scoped.get(kind) ?? [])] : tokens;
    if (isCredential && certificate !== null) {
      // A token that a follower sends besides may permit more than its certificate.
      const { scheme, credential } = credentialOf(message);
      const named = kind === "feed" && scheme === "bearer" ? findToken(credential, known) : null;
      return { caller: { ...client, principal: named ?? certificate } };
    }
    return this.#authenticate(message, client, known);
  }

  #authenticate(
    message: IncomingMessage,
    caller: Omit<Caller, "principal">,
    tokens: readonly BearerToken[],
  ): AuthDecision | Promise<AuthDecision> {
    const { scheme, credential } = credentialOf(message);
    if (scheme === "bearer") {
      const principal = findToken(credential, tokens);
      return principal === null ? this.#challenge() : { caller: { ...caller, principal } };
    }
    const [, user = "", password = ""] =
      /^([^:]*):(.*)$/s.exec(Buffer.from(credential, "base64").toString("utf8")) ?? [];
    if (scheme !== "basic" || user === "" || (this.#access.auth?.basic ?? []).length === 0) return this.#challenge();
    const verdict = this.#passwords.check(user, password, {
      address: caller.address,
      hasLeft: () => message.socket.destroyed,
    });
    const decide = (result: PasswordVerdict): AuthDecision => {
      if (result === "right") return { caller: { ...caller, principal: user } };
      return result === "wrong" ? this.#challenge() : { refusal: tooMany };
    };
    return verdict instanceof Promise ? verdict.then(decide) : decide(verdict);
  }

  #challenge(): AuthDecision {
    const message = "Cannot accept this request: it needs a credential of this listener";
    return {
      refusal: errorReply(401, "unauthorized", {
        message,
        headers: ["X-Rolecall-Reason", "unauthorized", ...this.#challenges],
      }),
    };
  }
}

/** The credential of a request and its scheme, in lower case; both are empty if it has none. */
function credentialOf({ headers }: IncomingMessage): { readonly scheme: string; readonly credential: string } {
  const [, scheme = "", credential = ""] = /^(\w+) +(\S+)$/.exec(headers.authorization ?? "") ?? [];
  return { scheme: scheme.toLowerCase(), credential };
}

function hasCertificate({ certificate }: ListenerAccess["followers"][number]): boolean {
  return certificate !== null;
}

const tooMany: Reply = errorReply(429, "busy", {
  message: "Cannot check this password now: too many are being checked",
  headers: ["X-Rolecall-Reason", "busy", "Retry-After", "1"],
});

/** Compares with every token, so that the time does not disclose which one matches. */
function findToken(token: string, tokens: readonly BearerToken[]): string | null {
  const digest = digestOf(token);
  let name: string | null = null;
  for (const known of tokens) if (timingSafeEqual(known.digest, digest)) name = known.name;
  return name;
}

function isFor(guarded: GuardedCalls, isUnsafe: boolean): boolean {
  return guarded === "all" || isUnsafe;
}

/** The common name of a verified client certificate; `null` if there is none. */
function certificateOf({ socket }: IncomingMessage): string | null {
  if (!(socket instanceof TLSSocket) || !hasVerifiedCertificate(socket)) return null;
  const name: unknown = socket.getPeerCertificate().subject?.CN;
  return `certificate ${typeof name === "string" ? name : "without a name"}`;
}

function challengesOf(access: ListenerAccess): readonly string[] {
  const { auth } = access;
  const basic =
    auth !== null && auth.basic.length > 0 ? ["WWW-Authenticate", 'Basic realm="rolecall", charset="UTF-8"'] : [];
  const isScoped = scopedFiles(access).size > 0;
  const hasTokens = isScoped || (auth !== null && auth.bearer.length > 0);
  const bearer = hasTokens ? ["WWW-Authenticate", 'Bearer realm="rolecall"'] : [];
  return [...basic, ...bearer];
}
