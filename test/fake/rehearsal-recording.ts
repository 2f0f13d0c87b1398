/** Recordings of rehearsals as tables have them. */
import type { PoolServer, Recording, WriteAttempt } from "../../src/cli/rehearse/measure/recording.ts";
import { Track } from "../../src/cli/rehearse/measure/track.ts";

/** Samples of one thing: `[instant, value]`. */
type Samples<T extends string> = readonly (readonly [atMs: number, value: T])[];

/** A recording in a table. The request is at 1000. */
export interface RecordingRow {
  readonly nodes: Readonly<
    Record<
      string,
      {
        readonly answers?: Samples<string>;
        readonly documents?: Samples<"writable" | "not writable" | "unknown">;
        readonly recovery?: Samples<"primary" | "replica" | "unreachable">;
      }
    >
  >;
  /**
   * Writes in order: `[start, end, server]`, where the server is `address/timeline` for an acknowledged write,
   * `address/recovery` for one that a server in recovery refused, and `-` for one that reached none.
   */
  readonly writes: readonly (readonly [startedAtMs: number, endedAtMs: number, server: string])[];
}

/** The recording of a row: pg1 led before the request, and a write begins every 100 ms. */
export function recordingOf({ nodes, writes }: RecordingRow): Recording {
  return {
    requestedAtMs: 1_000,
    leader: "pg1",
    nodes: Object.entries(nodes).map(([node, { answers = [], documents = [], recovery = [] }]) => ({
      node,
      answers: segmentsOf(answers),
      documents: segmentsOf(documents),
      recovery: segmentsOf(recovery),
    })),
    attempts: writes.map(([startedAtMs, endedAtMs, text], at): WriteAttempt => {
      const server = serverOf(text);
      const isDone = server !== null && !server.isInRecovery;
      return {
        n: at + 1,
        startedAtMs,
        reachedAtMs: server === null ? null : endedAtMs - 1,
        server,
        endedAtMs,
        outcome: isDone ? "acknowledged" : "failed",
        cause: isDone ? null : "the connection was closed",
      };
    }),
    writeIntervalMs: 100,
  };
}

function segmentsOf<T extends string>(samples: Samples<T>): Track<T>["segments"] {
  const track = new Track<T>();
  for (const [atMs, value] of samples) track.add(atMs, value);
  return track.segments;
}

function serverOf(text: string): PoolServer | null {
  const [address = "", timeline] = text.split("/");
  if (timeline === undefined) return null;
  const isInRecovery = timeline === "recovery";
  return { address, pid: 42, isInRecovery, timeline: isInRecovery ? null : Number(timeline) };
}
