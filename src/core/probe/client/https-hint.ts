import { connect } from "node:tls";
import type { Failure } from "../../cluster/observation.ts";
import { isPutOff, type OwnWait } from "../schedule/own-wait.ts";

/**
 * The shortest time between two TLS handshakes with a failing node, in ms: each occupies one of the node's few workers.
 */
const handshakeGapMs = 30_000;
/** How plain HTTP fails on a TLS port: the connection is reset, or the response is not HTTP. */
const plainHttpFailureKinds: readonly Failure["kind"][] = ["reset", "body"];

/** Finds out whether a TLS server answers at an address, whatever its certificate, within a time limit in ms. */
export type IsTlsServer = (address: URL, timeoutMs: number) => Promise<boolean>;

/** What the detection depends on. */
export interface HttpsHintContext extends OwnWait {
  /** rolecall's clock, in ms. */
  readonly now: () => number;
  /** The time limit of a handshake. */
  readonly timeoutMs: number;
  /** Default: a handshake shows it. */
  readonly isTlsServer?: IsTlsServer | undefined;
}

/**
 * Detects a node whose API uses https although its configured address begins with http:// (Patroni's restapi.certfile,
 * set on a running cluster). The finding holds until the node answers again, so that the reason does not flap.
 */
export class HttpsHint {
  readonly #origin: URL;
  readonly #context: HttpsHintContext;
  #checkedAtMs = -Infinity;
  #isTls = false;

  /** @param origin the base address of the node's API */
  constructor(origin: string, context: HttpsHintContext) {
    this.#origin = new URL(origin);
    this.#context = context;
  }

  /** To be called after a response: discards the finding. */
  reset(): void {
    this.#checkedAtMs = -Infinity;
    this.#isTls = false;
  }

  /** Returns the failure, with the kind `https` if the node speaks TLS. */
  async refine(failure: Failure): Promise<Failure> {
    if (this.#origin.protocol !== "http:" || !plainHttpFailureKinds.includes(failure.kind)) return failure;
    const { now, timeoutMs, isTlsServer = shakeHands } = this.#context;
    // Nodes close connections whose answers nobody reads.
    if (!isPutOff(this.#context, "urgent") && now() - this.#checkedAtMs >= handshakeGapMs) {
      this.#checkedAtMs = now();
      this.#isTls = await isTlsServer(this.#origin, timeoutMs);
    }
    const detail = `${this.#origin.origin} speaks TLS: its address must begin with https://`;
    return this.#isTls ? { kind: "https", detail } : failure;
  }
}

/** Whether a TLS server answers. A TLS alert proves that too. */
function shakeHands({ hostname, port }: URL, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    // Nothing is sent or trusted over this connection, so the certificate does not matter.
    const socket = connect({
      host,
      port: port === "" ? 80 : Number(port),
      rejectUnauthorized: false,
    });
    const end = (isTls: boolean): void => {
      clearTimeout(deadline);
      socket.destroy();
      resolve(isTls);
    };
    // The timeout of a socket begins again with each byte: a handshake byte by byte would last for ever.
    const deadline = setTimeout(() => end(false), timeoutMs);
    socket.on("secureConnect", () => end(true));
    socket.on("error", (error: NodeJS.ErrnoException) => end(/_ALERT_/.test(error.code ?? "")));
    socket.on("close", () => end(false));
  });
}
