import type { Request } from "../message/request.ts";

/** A request or a connection that access control or a limit rejected. */
export interface RejectedRequest {
  readonly address: string;
  /** The status answered; `null` if the connection was closed without an answer. */
  readonly status: number | null;
  /** Why, as one of a few words (docs/checks.md): the reason in the answer, or the limit that was exceeded. */
  readonly reason: string;
  /** `null` if the connection was rejected before it sent a request. */
  readonly request: Request | null;
  /** How many there were, if several are reported together. */
  readonly count?: number;
}

/** What a listener reports. */
export interface ListenerEvents {
  /** Internal error; it cost one answer or one connection. `request` is `null` if there is no request. */
  readonly onError: (error: unknown, request: Request | null) => void;
  readonly onRejected: (rejected: RejectedRequest) => void;
  /** Called after each attempt to read the listener's credential files. `problem` is a sentence; `null` on success. */
  readonly onFiles: (problem: string | null) => void;
}
