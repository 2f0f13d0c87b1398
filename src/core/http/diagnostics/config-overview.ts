/** The configuration that is in force: the field `config` of `GET /status`. Times are RFC 3339, UTC. */
export interface ConfigOverview {
  /** The file that it comes from; `null` if the command line gives all of it. */
  readonly file: string | null;
  readonly loaded_at: string;
  /** The last reload, if it was refused; `null` if it was applied, and before the first one. */
  readonly refused: RefusedOverview | null;
  /** The parts of rolecall that it uses and that could not be loaded or opened; absent if there is none. */
  readonly failed_features?: readonly string[];
}

/** A configuration that was refused. */
export interface RefusedOverview {
  readonly at: string;
  /** How many problems it has. */
  readonly problems: number;
  /** The first problem, with its place. */
  readonly first: string;
}
