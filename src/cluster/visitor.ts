/** Who calls. */
export interface Visitor {
  /** The peer's address; an IPv4 one is written as such. */
  readonly address: string;
  /** The user, token or certificate that vouched for the caller; `null` where nobody was asked. */
  readonly who: string | null;
  /** Whether the Authorization header was for us, and so is none of a node's business. */
  readonly isOurSecret: boolean;
}
