import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import type { Caller } from "../message/caller.ts";
import { unmapped } from "../../config/values/cidr.ts";
import type { ListenerAuth, ListenerAccess, GuardedCalls } from "../../config/model/listener-access-config.ts";
import { digestOf, type BearerToken } from "./credential-files.ts";
import { allowlistOf } from "./ip-allowlist.ts";
import { BasicAuth } from "./basic-auth.ts";
import type { PasswordVerdict } from "./password-queue.ts";
import { errorReply, type Reply } from "../message/reply.ts";

/** The caller of an authorized request, or the reply that refuses it. */
export type AuthDecision = { readonly caller: Caller } | { readonly refusal: Reply };

/** Authorizes the requests of one listener: all of them, or only those that change state. */
export class AccessControl {
  readonly #access: ListenerAccess;
  readonly #tokens: () => readonly BearerToken[];
  readonly #isAllowed: ((address: string) => boolean) | null;
  readonly #passwords: BasicAuth;
  readonly #challenges: readonly string[];

  constructor(access: ListenerAccess, tokens: () => readonly BearerToken[]) {
    this.#access = access;
    this.#tokens = tokens;
    this.#isAllowed = access.allow === null ? null : allowlistOf(access.allow);
    this.#passwords = new BasicAuth(access.auth?.basic ?? []);
    this.#challenges = challengesOf(access.auth);
  }

  /**
   * Authorizes a request by address and credential. Returns a promise only if a password has to be hashed.
   * @param isUnsafe whether the request may change state
   */
  authorize(message: IncomingMessage, isUnsafe: boolean): AuthDecision | Promise<AuthDecision> {
    const { auth, allowFor } = this.#access;
    const address = unmapped(message.socket.remoteAddress ?? "");
    if (this.#isAllowed !== null && isFor(allowFor, isUnsafe) && !this.#isAllowed(address)) {
      const text = `Cannot accept a request from ${address}: it must be in one of the networks in allow`;
      return {
        refusal: errorReply(403, "not_allowed", { message: text, headers: ["X-Rolecall-Reason", "not_allowed"] }),
      };
    }
    const client = { address, consumesAuthorization: auth !== null };
    const certificate = certificateOf(message);
    if (auth === null || !isFor(auth.for, isUnsafe)) return { caller: { ...client, principal: certificate } };
    if (auth.certificate && certificate !== null) return { caller: { ...client, principal: certificate } };
    return this.#authenticate(message, client);
  }

  #authenticate(
    { headers, socket }: IncomingMessage,
    caller: Omit<Caller, "principal">,
  ): AuthDecision | Promise<AuthDecision> {
    const [, scheme = "", credential = ""] = /^(\w+) +(\S+)$/.exec(headers.authorization ?? "") ?? [];
    if (scheme.toLowerCase() === "bearer") {
      const principal = this.#findToken(credential);
      return principal === null ? this.#challenge() : { caller: { ...caller, principal } };
    }
    const [, user = "", password = ""] =
      /^([^:]*):(.*)$/s.exec(Buffer.from(credential, "base64").toString("utf8")) ?? [];
    if (scheme.toLowerCase() !== "basic" || user === "" || this.#access.auth?.basic.length === 0)
      return this.#challenge();
    const verdict = this.#passwords.check(user, password, { address: caller.address, hasLeft: () => socket.destroyed });
    const decide = (result: PasswordVerdict): AuthDecision => {
      if (result === "right") return { caller: { ...caller, principal: user } };
      return result === "wrong" ? this.#challenge() : { refusal: tooMany };
    };
    return verdict instanceof Promise ? verdict.then(decide) : decide(verdict);
  }

  /** Compares with every token, so that the time does not disclose which one matches. */
  #findToken(token: string): string | null {
    const digest = digestOf(token);
    let name: string | null = null;
    for (const known of this.#tokens()) if (timingSafeEqual(known.digest, digest)) name = known.name;
    return name;
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

const tooMany: Reply = errorReply(429, "busy", {
  message: "Cannot check this password now: too many are being checked",
  headers: ["X-Rolecall-Reason", "busy", "Retry-After", "1"],
});

function isFor(guarded: GuardedCalls, isUnsafe: boolean): boolean {
  return guarded === "all" || isUnsafe;
}

/** The common name of a verified client certificate; `null` if there is none. */
function certificateOf({ socket }: IncomingMessage): string | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  const name: unknown = socket.getPeerCertificate().subject?.CN;
  return `certificate ${typeof name === "string" ? name : "without a name"}`;
}

function challengesOf(auth: ListenerAuth | null): readonly string[] {
  const basic =
    auth !== null && auth.basic.length > 0 ? ["WWW-Authenticate", 'Basic realm="rolecall", charset="UTF-8"'] : [];
  const bearer = auth !== null && auth.bearer.length > 0 ? ["WWW-Authenticate", 'Bearer realm="rolecall"'] : [];
  return [...basic, ...bearer];
}
