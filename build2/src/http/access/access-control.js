import { timingSafeEqual } from "node:crypto";
import { TLSSocket } from "node:tls";
import { unmapped } from "../../config/values/cidr.js";
import { digestOf } from "./credential-files.js";
import { allowlistOf } from "./ip-allowlist.js";
import { BasicAuth } from "./basic-auth.js";
import { errorReply } from "../message/reply.js";
/** Authorizes the requests of one listener: all of them, or only those that change state. */
export class AccessControl {
    #access;
    #files;
    #isAllowed;
    #passwords;
    #challenges;
    constructor(access, files) {
        this.#access = access;
        this.#files = files;
        this.#isAllowed = access.allow === null ? null : allowlistOf(access.allow);
        this.#passwords = new BasicAuth(access.auth?.basic ?? []);
        this.#challenges = challengesOf(access);
    }
    /**
     * Authorizes a request by address and credential. Returns a promise only if a password has to be hashed. On a
     * listener with hint tokens, a hint needs one of them or another credential of the listener, whatever `auth` is for.
     */
    authorize(message, kind) {
        const { auth, allowFor, hintTokens } = this.#access;
        const isUnsafe = kind !== "safe";
        const needsToken = kind === "hint" && hintTokens.length > 0;
        const address = unmapped(message.socket.remoteAddress ?? "");
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
        if (auth?.certificate === true && certificate !== null)
            return { caller: { ...client, principal: certificate } };
        const { tokens } = this.#files;
        return this.#authenticate(message, client, needsToken ? [...tokens, ...this.#files.hintTokens] : tokens);
    }
    #authenticate({ headers, socket }, caller, tokens) {
        const [, scheme = "", credential = ""] = /^(\w+) +(\S+)$/.exec(headers.authorization ?? "") ?? [];
        if (scheme.toLowerCase() === "bearer") {
            const principal = findToken(credential, tokens);
            return principal === null ? this.#challenge() : { caller: { ...caller, principal } };
        }
        const [, user = "", password = ""] = /^([^:]*):(.*)$/s.exec(Buffer.from(credential, "base64").toString("utf8")) ?? [];
        if (scheme.toLowerCase() !== "basic" || user === "" || (this.#access.auth?.basic ?? []).length === 0)
            return this.#challenge();
        const verdict = this.#passwords.check(user, password, { address: caller.address, hasLeft: () => socket.destroyed });
        const decide = (result) => {
            if (result === "right")
                return { caller: { ...caller, principal: user } };
            return result === "wrong" ? this.#challenge() : { refusal: tooMany };
        };
        return verdict instanceof Promise ? verdict.then(decide) : decide(verdict);
    }
    #challenge() {
        const message = "Cannot accept this request: it needs a credential of this listener";
        return {
            refusal: errorReply(401, "unauthorized", {
                message,
                headers: ["X-Rolecall-Reason", "unauthorized", ...this.#challenges],
            }),
        };
    }
}
const tooMany = errorReply(429, "busy", {
    message: "Cannot check this password now: too many are being checked",
    headers: ["X-Rolecall-Reason", "busy", "Retry-After", "1"],
});
/** Compares with every token, so that the time does not disclose which one matches. */
function findToken(token, tokens) {
    const digest = digestOf(token);
    let name = null;
    for (const known of tokens)
        if (timingSafeEqual(known.digest, digest))
            name = known.name;
    return name;
}
function isFor(guarded, isUnsafe) {
    return guarded === "all" || isUnsafe;
}
/** The common name of a verified client certificate; `null` if there is none. */
function certificateOf({ socket }) {
    if (!(socket instanceof TLSSocket) || !socket.authorized)
        return null;
    const name = socket.getPeerCertificate().subject?.CN;
    return `certificate ${typeof name === "string" ? name : "without a name"}`;
}
function challengesOf({ auth, hintTokens }) {
    const basic = auth !== null && auth.basic.length > 0 ? ["WWW-Authenticate", 'Basic realm="rolecall", charset="UTF-8"'] : [];
    const hasTokens = hintTokens.length > 0 || (auth !== null && auth.bearer.length > 0);
    const bearer = hasTokens ? ["WWW-Authenticate", 'Bearer realm="rolecall"'] : [];
    return [...basic, ...bearer];
}
//# sourceMappingURL=access-control.js.map