/** Who calls. */
export interface Caller {
  /** The peer's address; an IPv4 one is written as such. */
  readonly address: string;
  /** The user, token or certificate that vouched for the caller; `null` where nobody was asked. */
  readonly principal: string | null;
  /** Whether the listener has credentials of its own: then the Authorization header is for us, and goes to no node. */
  readonly consumesAuthorization: boolean;
}
