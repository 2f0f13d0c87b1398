import { connect } from "node:tls";
/**
 * The shortest time between two TLS handshakes with a failing node, in ms: each occupies one of the node's few workers.
 */
const handshakeGapMs = 30_000;
/** How plain HTTP fails on a TLS port: the connection is reset, or the response is not HTTP. */
const plainHttpFailureKinds = ["reset", "body"];
/**
 * Detects a node whose API uses https although its configured address begins with http:// (Patroni's restapi.certfile,
 * set on a running cluster). The finding holds until the node answers again, so that the reason does not flap.
 */
export class HttpsHint {
    #origin;
    #now;
    #timeoutMs;
    #checkedAtMs = -Infinity;
    #isTls = false;
    /**
     * @param origin the base address of the node's API
     * @param now the monotonic clock, in ms
     * @param timeoutMs the time limit of a handshake
     */
    constructor(origin, now, timeoutMs) {
        this.#origin = new URL(origin);
        this.#now = now;
        this.#timeoutMs = timeoutMs;
    }
    /** To be called after a response: discards the finding. */
    reset() {
        this.#checkedAtMs = -Infinity;
        this.#isTls = false;
    }
    /** Returns the failure, with the kind `https` if the node speaks TLS. */
    async refine(failure) {
        if (this.#origin.protocol !== "http:" || !plainHttpFailureKinds.includes(failure.kind))
            return failure;
        if (this.#now() - this.#checkedAtMs >= handshakeGapMs) {
            this.#checkedAtMs = this.#now();
            this.#isTls = await this.#isTlsServer();
        }
        const detail = `${this.#origin.origin} speaks TLS: its address must begin with https://`;
        return this.#isTls ? { kind: "https", detail } : failure;
    }
    /** Whether a TLS server answers, whatever its certificate. A TLS alert proves that too. */
    #isTlsServer() {
        const { hostname, port } = this.#origin;
        return new Promise((resolve) => {
            const host = hostname.replace(/^\[(.*)\]$/, "$1");
            // Nothing is sent or trusted over this connection, so the certificate does not matter.
            const socket = connect({
                host,
                port: port === "" ? 80 : Number(port),
                rejectUnauthorized: false,
                timeout: this.#timeoutMs,
            });
            const end = (isTls) => {
                socket.destroy();
                resolve(isTls);
            };
            socket.on("secureConnect", () => end(true));
            socket.on("timeout", () => end(false));
            socket.on("error", (error) => end(/_ALERT_/.test(error.code ?? "")));
            socket.on("close", () => resolve(false));
        });
    }
}
//# sourceMappingURL=https-hint.js.map