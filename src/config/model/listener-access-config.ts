/** The access control of a listener: TLS, authentication, allowed networks and limits. */
export interface ListenerAccess {
  /** Whether management calls are forwarded to the nodes: on an admin listener only switchovers. */
  readonly management: boolean;
  /** Whether requests that change something are refused. Always `false` for node listeners, which have `management`. */
  readonly readOnly: boolean;
  /** TLS on this listener, or `null`. */
  readonly tls: ListenerTls | null;
  /** Authentication of clients, or `null`. */
  readonly auth: ListenerAuth | null;
  /** Files with one token a line that `POST /hint` accepts, and nothing else; absolute paths, read again on changes. */
  readonly hintTokens: readonly string[];
  /** Client networks that are allowed, as `10.0.0.0/8`; `null`: all. */
  readonly allow: readonly string[] | null;
  /** The requests that `allow` applies to. */
  readonly allowFor: GuardedCalls;
  /**
   * The balancers' networks whose connections begin with a PROXY preamble, which names their client; `null`: no
   * connection may have one.
   */
  readonly proxyProtocol: readonly string[] | null;
  /**
   * Web origins, besides the Host itself, whose pages may send requests that change something:
   * `https://console.example.com`.
   */
  readonly trustedOrigins: readonly string[];
  readonly limits: ListenerLimits;
}

/** The requests that an access rule applies to: all of them, or those that change something. */
export type GuardedCalls = "all" | "unsafe";

/** TLS of a listener. Files are absolute paths, read again when they change. */
export interface ListenerTls {
  readonly cert: string;
  readonly key: string;
  /** CA certificates that clients are verified with. */
  readonly ca: string | null;
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  readonly client: "off" | "optional" | "required";
}

/** Authentication of clients. Any one of the credentials is sufficient. */
export interface ListenerAuth {
  readonly for: GuardedCalls;
  readonly basic: readonly BasicUser[];
  /** Files with one bearer token a line; absolute paths, read again when they change. */
  readonly bearer: readonly string[];
  /** Whether a verified client certificate is a credential. */
  readonly certificate: boolean;
}

/** A user with a password. */
export interface BasicUser {
  readonly user: string;
  /** The hash of the password, as `rolecall hash-password` prints it. */
  readonly scrypt: string;
}

/** The limits of one listener. Durations in ms. */
export interface ListenerLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
  readonly headerTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Pipelined requests of one connection. */
  readonly pipelined: number;
  /** The body of a management call, in bytes. */
  readonly bodyMax: number;
  /** Management calls of one cluster in flight. */
  readonly callsInFlight: number;
  /** The time limit of a management call. */
  readonly callTimeoutMs: number;
  /** Streamed responses (`/metrics`, `/exporter/…`) of one node in flight. */
  readonly fetches: number;
}

/** The default: checks only, from every client, with limits that no load balancer reaches. */
export const unrestrictedAccess: ListenerAccess = {
  management: false,
  readOnly: false,
  tls: null,
  auth: null,
  hintTokens: [],
  allow: null,
  allowFor: "all",
  proxyProtocol: null,
  trustedOrigins: [],
  limits: {
    connections: 16_384,
    connectionsPerAddress: 4_096,
    headerTimeoutMs: 10_000,
    requestTimeoutMs: 30_000,
    idleTimeoutMs: 120_000,
    pipelined: 256,
    bodyMax: 1_048_576,
    callsInFlight: 4,
    callTimeoutMs: 600_000,
    fetches: 2,
  },
};
