import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import type { Caller } from "../message/caller.ts";
import { unmapped } from "../../config/values/cidr.ts";
import type { ListenerAuth, ListenerAccess, GuardedCalls } from "../../config/model/listener-access-config.ts";
import { digestOf, type BearerToken } from "./credential-files.ts";
import { allowlistOf } from "./ip-allowlist.ts";
import { BasicAuth, type PasswordVerdict } from "./basic-auth.ts";
import { errorReply, type Reply } from "../message/reply.ts";

/** Whether a request comes in, and as whose; else what it is answered. */
export type AuthDecision = { readonly caller: Caller } | { readonly refusal: Reply };

/** The lock of one door: who may come in, for all calls or only for those that change something. */
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
   * Looks at a request: at once, but for a password that has to be worked on.
   * @param isUnsafe whether the request may change something
   */
  authorize(message: IncomingMessage, isUnsafe: boolean): AuthDecision | Promise<AuthDecision> {
    const { auth, allowFor } = this.#access;
    const address = unmapped(message.socket.remoteAddress ?? "");
    if (this.#isAllowed !== null && isFor(allowFor, isUnsafe) && !this.#isAllowed(address)) {
      const text = `Cannot let ${address} in: it is in none of the networks that allow names`;
      return {
        refusal: errorReply(403, "not_allowed", { message: text, headers: ["X-Rolecall-Reason", "not_allowed"] }),
      };
    }
    const visitor = { address, consumesAuthorization: auth !== null };
    const certificate = certificateOf(message);
    if (auth === null || !isFor(auth.for, isUnsafe)) return { caller: { ...visitor, principal: certificate } };
    if (auth.certificate && certificate !== null) return { caller: { ...visitor, principal: certificate } };
    return this.#vouch(message, visitor);
  }

  #vouch(
    { headers, socket }: IncomingMessage,
    caller: Omit<Caller, "principal">,
  ): AuthDecision | Promise<AuthDecision> {
    const [, scheme = "", credential = ""] = /^(\w+) +(\S+)$/.exec(headers.authorization ?? "") ?? [];
    if (scheme.toLowerCase() === "bearer") {
      const who = this.#bearer(credential);
      return who === null ? this.#challenge() : { caller: { ...caller, principal: who } };
    }
    const [, user = "", password = ""] =
      /^([^:]*):(.*)$/s.exec(Buffer.from(credential, "base64").toString("utf8")) ?? [];
    if (scheme.toLowerCase() !== "basic" || user === "" || this.#access.auth?.basic.length === 0)
      return this.#challenge();
    const verdict = this.#passwords.check(user, password, { address: caller.address, hasLeft: () => socket.destroyed });
    const settle = (known: PasswordVerdict): AuthDecision => {
      if (known === "right") return { caller: { ...caller, principal: user } };
      return known === "wrong" ? this.#challenge() : { refusal: tooMany };
    };
    return verdict instanceof Promise ? verdict.then(settle) : settle(verdict);
  }

  /** Every token is compared, whichever fits, so that the time tells nothing. */
  #bearer(token: string): string | null {
    const digest = digestOf(token);
    let who: string | null = null;
    for (const known of this.#tokens()) if (timingSafeEqual(known.digest, digest)) who = known.name;
    return who;
  }

  #challenge(): AuthDecision {
    const message = "Cannot let this call in: it needs a credential of this listener";
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

/** The certificate's common name, where the connection's authority was checked; a bare name if it has none. */
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
