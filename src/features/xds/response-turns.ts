import type { CancelTimer, SetTimer } from "../../core/cluster/timer.ts";

/** So many bytes of responses may be on their way to clients at the same time. One response may be larger. */
const bytesMaxDefault = 4 * 1024 * 1024;
/** How long a response counts as on its way, in ms: a client that does not read keeps nobody from their responses. */
const slotMs = 250;

/** A stream to which something is due. */
export interface WaitingStream {
  /** Sends what is due now. */
  go(): void;
}

/**
 * Bounds the bytes of all responses that are on their way. Envoys connect again together, as after a restart, and the
 * first response of each holds all pools: hundreds of kB, which are encoded, framed and buffered for each of them.
 */
export class ResponseTurns {
  readonly #setTimer: SetTimer;
  readonly #bytesMax: number;
  readonly #waiting = new Set<WaitingStream>();
  readonly #sent = new Set<CancelTimer>();
  #bytes = 0;

  constructor(setTimer: SetTimer, bytesMax: number = bytesMaxDefault) {
    this.#setTimer = setTimer;
    this.#bytesMax = bytesMax;
  }

  /** Whether a stream may send now. If not, it goes when it is its turn. */
  mayGo(stream: WaitingStream): boolean {
    if (this.#bytes < this.#bytesMax) return true;
    this.#waiting.add(stream);
    return false;
  }

  /** Counts a response that is sent now. @returns to be called when it was sent, and once at least */
  count(bytes: number): () => void {
    this.#bytes += bytes;
    const end = (): void => {
      if (!this.#sent.delete(cancel)) return;
      cancel();
      this.#bytes -= bytes;
      this.#goOn();
    };
    const cancel = this.#setTimer(end, slotMs);
    this.#sent.add(cancel);
    return end;
  }

  /** Forgets a stream that has ended. */
  remove(stream: WaitingStream): void {
    this.#waiting.delete(stream);
  }

  #goOn(): void {
    for (const stream of this.#waiting) {
      if (this.#bytes >= this.#bytesMax) return;
      this.#waiting.delete(stream);
      stream.go();
    }
  }
}
