/** The configuration that is in force: the field `config` of `GET /status`. Times are RFC 3339, UTC. */
export interface ConfigOverview {
  /** The file that it comes from; `null` if the command line gives all of it. */
  readonly file: string | null;
  readonly loaded_at: string;
  /** The last reload, if it was refused; `null` if it was applied, and before the first one. */
  readonly refused: RefusedOverview | null;
  /** The parts of rolecall that it uses and that could not be loaded or opened; absent if there is none. */
  readonly failed_features?: readonly string[];
  /** Where state is kept; absent if the rolecall is no service. */
  readonly state?: StateOverview;
}

/** Where state is kept across restarts. */
export interface StateOverview {
  /** The state file; `null`: none. */
  readonly file: string | null;
  /** The directory of the history; `null`: none is kept. */
  readonly history: string | null;
  /** Who names the file: the configuration, or the system by a variable of the environment; `null`: there is none. */
  readonly from: "configuration" | "STATE_DIRECTORY" | "XDG_STATE_HOME" | null;
  /** Why no state is kept, or who uses the file too; `null` if all is well. */
  readonly problem: string | null;
}

/** A configuration that was refused. */
export interface RefusedOverview {
  readonly at: string;
  /** How many problems it has. */
  readonly problems: number;
  /** The first problem, with its place. */
  readonly first: string;
}
