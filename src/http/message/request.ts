/** What of a request decides its answer. */
export interface Request {
  readonly method: string;
  /** The request target as it came: path and query, percent-encoded. */
  readonly target: string;
  readonly host: string | undefined;
  /** `X-Rolecall-Node`. */
  readonly nodeHeader: string | undefined;
  /** `X-Haproxy-Server-State`, as HAProxy's `http-check send-state` adds it. */
  readonly serverState: string | undefined;
}

/** Methods that ask and change nothing: each gets the same status (seeds/node-api.md, "Health checks"). */
export const safeMethods: readonly string[] = ["GET", "HEAD", "OPTIONS"];
