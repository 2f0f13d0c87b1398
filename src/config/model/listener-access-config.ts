/** What stands at a listener's door: what passes it, who may come in and how much of each. */
export interface ListenerAccess {
  /** Whether management calls are passed on to the nodes. */
  readonly management: boolean;
  /** TLS on this listener, or `null`. */
  readonly tls: ListenerTls | null;
  /** Who has to say who they are, and how; `null` where nobody has to. */
  readonly auth: ListenerAuth | null;
  /** Networks that may come in, as `10.0.0.0/8`; `null` for everyone. */
  readonly allow: readonly string[] | null;
  readonly allowFor: GuardedCalls;
  /** Origins, beside the Host itself, whose pages may make calls that change something, as `https://console.example.com`. */
  readonly trustedOrigins: readonly string[];
  readonly limits: ListenerLimits;
}

/** Which calls a lock is for: all of them, or those that change something. */
export type GuardedCalls = "all" | "unsafe";

/** Files are absolute paths, read again when they change. */
export interface ListenerTls {
  readonly cert: string;
  readonly key: string;
  /** Who signs the clients' certificates. */
  readonly ca: string | null;
  readonly minVersion: "TLSv1.2" | "TLSv1.3";
  readonly client: "off" | "optional" | "required";
}

/** Any one of the credentials listed lets a caller in. */
export interface ListenerAuth {
  readonly for: GuardedCalls;
  readonly basic: readonly BasicUser[];
  /** Files with one bearer token a line; absolute paths, read again when they change. */
  readonly bearer: readonly string[];
  /** Whether a verified client certificate is a credential. */
  readonly certificate: boolean;
}

export interface BasicUser {
  readonly user: string;
  /** As `rolecall hash-password` writes it. */
  readonly scrypt: string;
}

/** How much one listener takes. Spans in milliseconds. */
export interface ListenerLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
  readonly headerTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** Requests of one connection that may wait for their answers. */
  readonly pipelined: number;
  /** The body of a management call, in bytes. */
  readonly bodyMax: number;
  /** Management calls of one cluster under way at a time. */
  readonly callsInFlight: number;
  /** How long a management call may take. */
  readonly callTimeoutMs: number;
  /** Streamed answers (`/metrics`, `/exporter/…`) of one node at a time. */
  readonly fetches: number;
}

/** What holds where the configuration says nothing: questions only, from everyone, in bounds that no balancer meets. */
export const unrestrictedAccess: ListenerAccess = {
  management: false,
  tls: null,
  auth: null,
  allow: null,
  allowFor: "all",
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
