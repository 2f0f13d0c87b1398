import { defaultLimits } from "../values/listener-limits.ts";
import type { ListenerConfig } from "./config.ts";

/** The access control of a listener: TLS, authentication, allowed networks and limits. File names are absolute. */
export type ListenerAccess = ListenerConfig["access"];

/** The requests that an access rule applies to: all of them, or those that change something. */
export type GuardedCalls = ListenerAccess["allowFor"];

/** TLS of a listener. Files are read again when they change. */
export type ListenerTls = NonNullable<ListenerAccess["tls"]>;

/** Authentication of clients. Any one of the credentials is sufficient. */
export type ListenerAuth = NonNullable<ListenerAccess["auth"]>;

/** A user with a password. */
export type BasicUser = ListenerAuth["basic"][number];

/** The limits of one listener. Durations in ms. */
export type ListenerLimits = ListenerAccess["limits"];

/** The default: checks only, from every client, with limits that no load balancer reaches. */
export const unrestrictedAccess: ListenerAccess = {
  management: false,
  readOnly: false,
  tls: null,
  auth: null,
  hintTokens: [],
  pauseTokens: [],
  beforeStopTokens: [],
  followers: [],
  allow: null,
  allowFor: "all",
  proxyProtocol: null,
  trustedOrigins: [],
  limits: defaultLimits,
};
