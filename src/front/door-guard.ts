import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import type { Visitor } from "../cluster/visitor.ts";
import { unmapped } from "../config/cidr.ts";
import type { DoorAuth, DoorConfig, Guarded } from "../config/door-config.ts";
import { digestOf, type BearerToken } from "./door-files.ts";
import { networksOf } from "./door-network.ts";
import { Passwords, type PasswordVerdict } from "./door-password.ts";
import { errorReply, type Reply } from "./reply.ts";

/** Whether a request comes in, and as whose; else what it is answered. */
export type Admission = { readonly visitor: Visitor } | { readonly refusal: Reply };

/** The lock of one door: who may come in, for all calls or only for those that change something. */
export class Guard {
  readonly #door: DoorConfig;
  readonly #tokens: () => readonly BearerToken[];
  readonly #isAllowed: ((address: string) => boolean) | null;
  readonly #passwords: Passwords;
  readonly #challenges: readonly string[];

  constructor(door: DoorConfig, tokens: () => readonly BearerToken[]) {
    this.#door = door;
    this.#tokens = tokens;
    this.#isAllowed = door.allow === null ? null : networksOf(door.allow);
    this.#passwords = new Passwords(door.auth?.basic ?? []);
    this.#challenges = challengesOf(door.auth);
  }

  /**
   * Looks at a request: at once, but for a password that has to be worked on.
   * @param isUnsafe whether the request may change something
   */
  admit(message: IncomingMessage, isUnsafe: boolean): Admission | Promise<Admission> {
    const { auth, allowFor } = this.#door;
    const address = unmapped(message.socket.remoteAddress ?? "");
    if (this.#isAllowed !== null && isFor(allowFor, isUnsafe) && !this.#isAllowed(address)) {
      const text = `Cannot let ${address} in: it is in none of the networks that allow names`;
      return { refusal: errorReply(403, "not_allowed", { message: text, headers: ["X-Rolecall-Reason", "not_allowed"] }) };
    }
    const visitor = { address, isOurSecret: auth !== null };
    const certificate = certificateOf(message);
    if (auth === null || !isFor(auth.for, isUnsafe)) return { visitor: { ...visitor, who: certificate } };
    if (auth.certificate && certificate !== null) return { visitor: { ...visitor, who: certificate } };
    return this.#vouch(message, visitor);
  }

  #vouch({ headers, socket }: IncomingMessage, visitor: Omit<Visitor, "who">): Admission | Promise<Admission> {
    const [, scheme = "", credential = ""] = /^(\w+) +(\S+)$/.exec(headers.authorization ?? "") ?? [];
    if (scheme.toLowerCase() === "bearer") {
      const who = this.#bearer(credential);
      return who === null ? this.#challenge() : { visitor: { ...visitor, who } };
    }
    const [, user = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(credential, "base64").toString("utf8")) ?? [];
    if (scheme.toLowerCase() !== "basic" || user === "" || this.#door.auth?.basic.length === 0) return this.#challenge();
    const verdict = this.#passwords.check(user, password, { address: visitor.address, hasLeft: () => socket.destroyed });
    const settle = (known: PasswordVerdict): Admission => {
      if (known === "right") return { visitor: { ...visitor, who: user } };
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

  #challenge(): Admission {
    const message = "Cannot let this call in: it needs a credential of this listener";
    return {
      refusal: errorReply(401, "unauthorized", { message, headers: ["X-Rolecall-Reason", "unauthorized", ...this.#challenges] }),
    };
  }
}

const tooMany: Reply = errorReply(429, "busy", {
  message: "Cannot check this password now: too many are being checked",
  headers: ["X-Rolecall-Reason", "busy", "Retry-After", "1"],
});

function isFor(guarded: Guarded, isUnsafe: boolean): boolean {
  return guarded === "all" || isUnsafe;
}

/** The certificate's common name, where the connection's authority was checked; a bare name if it has none. */
function certificateOf({ socket }: IncomingMessage): string | null {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  const name: unknown = socket.getPeerCertificate().subject?.CN;
  return `certificate ${typeof name === "string" ? name : "without a name"}`;
}

function challengesOf(auth: DoorAuth | null): readonly string[] {
  const basic = auth !== null && auth.basic.length > 0 ? ["WWW-Authenticate", 'Basic realm="rolecall", charset="UTF-8"'] : [];
  const bearer = auth !== null && auth.bearer.length > 0 ? ["WWW-Authenticate", 'Bearer realm="rolecall"'] : [];
  return [...basic, ...bearer];
}
