import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

/**
 * A stream of WAL that moves in a straight line: its position in bytes at the start, and its growth in bytes a second.
 */
export interface Wal {
  readonly at?: number;
  readonly rate?: number;
}

/** How a node deviates from the truth of its cluster. Fields that are left out, or null, follow the truth. */
export interface Conduct {
  /** Refuses connections, or accepts them and never answers. */
  readonly api?: "up" | "refused" | "hang" | null;
  /** The delay of each of its answers, in seconds. */
  readonly delay?: number | null;
  /** Whether it answers `GET /leader` with 200. */
  readonly lock?: boolean | null;
  readonly role?: string | null;
  readonly state?: string | null;
  readonly timeline?: number | null;
  /** The member that its `/cluster` names as the leader, `nobody`, or how that request fails. */
  readonly view?: string | null;
  /** The delay of each of its cluster documents, in seconds. */
  readonly viewDelay?: number | null;
  /** Refuses connections once it has answered this many cluster documents from now on. */
  readonly endsAfterViews?: number | null;
  /** A stream's name, a fixed position, or `here`: the current position plus this many bytes. */
  readonly wal?: string | number | { readonly here: number } | null;
  /** Bytes received later than the stream, and replayed later than received. */
  readonly receiveBehind?: number | null;
  readonly replayBehind?: number | null;
  /** The replayed position at which it has stopped, in the notation of `wal`. */
  readonly replayed?: number | { readonly here: number } | null;
  /** Omits position and timeline: from every document, or from every nth one. */
  readonly mute?: true | number | null;
  /** Listed by the leader, or by the node named here. */
  readonly attached?: boolean | null;
  readonly upstream?: string | null;
  /** Serves `/history` as it was before the last promotion. */
  readonly oldHistory?: boolean | null;
  /** Further fields of its status document. */
  readonly fields?: { readonly [field: string]: unknown } | null;
  /** Its exporter never answers, or its database is frozen: the exporter answers with the time at which that began. */
  readonly exporter?: "hang" | "frozen" | null;
  /** The members of its cluster document, and the server of each. For servers that belong to another cluster. */
  readonly members?: Readonly<Record<string, string>> | null;
}

export interface Step {
  /** Seconds since the start. */
  readonly at: number;
  /** Another holder of the lock from now on, or nobody. With `timeline` the new holder is promoted. */
  readonly leader?: string | null;
  readonly timeline?: number;
  readonly wal?: Readonly<Record<string, Wal>>;
  readonly set?: Readonly<Record<string, Conduct | null>>;
  /** rolecall stops, and another run of it starts so many seconds later. It keeps its state file. */
  readonly restart?: number;
}

export interface Expectation {
  readonly node: string;
  readonly check: string;
  /** Seconds since the start; up to the end where left out. */
  readonly from: number;
  readonly to?: number;
  /** Every answer in the window is one of these; `unfit` is any but `fit`. */
  readonly is?: string | readonly string[];
  /** No answer in the window is one of these. */
  readonly never?: string | readonly string[];
  readonly host?: string;
}

/** One directed sequence: the timed behaviour of the servers of one cluster, and the answers expected of rolecall. */
export interface Sequence {
  readonly name: string;
  /** The behaviour that it shows. */
  readonly title: string;
  /** The conditions throughout the sequence, without which its answers cannot be judged. */
  readonly truth: string;
  /** Whether the behaviour must never change. */
  readonly neighbour: boolean;
  /** Whether it also runs over real connections. */
  readonly wire?: boolean;
  /** Names of the members, in the order of the list. */
  readonly nodes: readonly string[];
  /** The names of nodes in the configuration, if they differ from the member names. */
  readonly called?: Readonly<Record<string, string>>;
  /** Whether their documents lack the member name, as those of version 3 do. */
  readonly anonymous?: boolean;
  /** Servers beside those of the members, and the name that each reports. */
  readonly others?: Readonly<Record<string, string>>;
  /** Whether each node has an exporter. Only on virtual time. */
  readonly exporters?: boolean;
  /** Whether members are discovered. */
  readonly discover?: boolean;
  readonly guards?: Readonly<Record<string, unknown>>;
  readonly leader: string | null;
  readonly standby?: boolean;
  readonly wal?: Readonly<Record<string, Wal>>;
  readonly start?: Readonly<Record<string, Conduct>>;
  readonly steps: readonly Step[];
  /** Seconds. */
  readonly lasts: number;
  /** Milliseconds between two rounds of checks. */
  readonly every?: number;
  readonly expect: readonly Expectation[];
  /**
   * Seconds by which all steps from the first on are shifted against the start. Each shift makes a cluster of its own.
   */
  readonly phases?: readonly number[];
}

const folder = join("test", "spec", "sequences");

export function readSequences(): readonly Sequence[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".yaml"))
    .sort()
    .flatMap((file) => parse(readFileSync(join(folder, file), "utf8"), { merge: true }) as readonly Sequence[])
    .flatMap(inPhases);
}

/** The mirror image of a sequence: the same nodes in the other order. */
export function reversed(sequence: Sequence): Sequence {
  return { ...sequence, name: `${sequence.name}-reversed`, nodes: sequence.nodes.toReversed() };
}

function inPhases(sequence: Sequence): readonly Sequence[] {
  const { phases = [0] } = sequence;
  return phases.map((phase) => ({
    ...sequence,
    name: phase === 0 ? sequence.name : `${sequence.name}-${Math.round(phase * 1000)}`,
    title: phase === 0 ? sequence.title : `${sequence.title} (${phase} s later)`,
    lasts: sequence.lasts + phase,
    steps: sequence.steps.map((step) => ({ ...step, at: step.at + phase })),
    expect: sequence.expect.map((expectation) => ({
      ...expectation,
      from: expectation.from === 0 ? 0 : expectation.from + phase,
      ...(expectation.to === undefined ? {} : { to: expectation.to + phase }),
    })),
  }));
}
