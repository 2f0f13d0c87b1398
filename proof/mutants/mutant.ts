/** One change to one expression of one file. */
export interface Mutant {
  /** `FILE:FUNCTION:CONSTRUCT.ORDINAL:CHANGE`, for example `health/rules/lag:exceeds:compare.1:gte`. */
  readonly id: string;
  /** The path within `src`, without its ending. */
  readonly file: string;
  /** The range of the expression in the source. */
  readonly start: number;
  readonly end: number;
  /** The expression, and what replaces it. */
  readonly code: string;
  readonly replacement: string;
}

/** The place of a change within a file: its construct, what the change does, and the text that replaces the node. */
export interface Change {
  readonly construct: string;
  readonly change: string;
  readonly replacement: string;
}
