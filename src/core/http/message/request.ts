/** The parts of a request that determine its answer. */
export interface Request {
  readonly method: string;
  /** The request target as received: path and query, percent-encoded. */
  readonly target: string;
  readonly host: string | undefined;
  /** `X-Rolecall-Node`. */
  readonly nodeHeader: string | undefined;
  /** `X-Haproxy-Server-State`, which HAProxy adds for `http-check send-state`. */
  readonly serverState: string | undefined;
}

/** Methods that change nothing. Each gets the same status (docs/checks.md). */
export const safeMethods: readonly string[] = ["GET", "HEAD", "OPTIONS"];

/** The Allow header of a path that only has safe methods. */
export const safeMethodsAllowHeader: string = safeMethods.join(", ");
