/** The client of an authorized request. */
export interface Caller {
  /** The peer's address. An IPv4-mapped address is written as IPv4. */
  readonly address: string;
  /** The user, token or certificate that authenticated the caller; `null` if the listener required none. */
  readonly principal: string | null;
  /** Whether the listener checks the Authorization header itself: then no node receives it. */
  readonly consumesAuthorization: boolean;
}
