import type { DrainOrder, FeedMessage, FeedRequest, OrderedDrain, Selection } from "../feed/feed-messages.ts";

/** What a connection to an upstream reports. Nothing follows `onEnd`. */
export interface FeedSink {
  /** @param isPart whether more changes of the same message follow */
  readonly onMessage: (message: FeedMessage, isPart?: boolean) => void;
  /** Bytes have come, as they were sent. */
  readonly onBytes: (count: number) => void;
  /** @param problem in the words of a log line */
  readonly onEnd: (problem: string) => void;
}

/** A stream of an upstream. */
export interface FeedConnection {
  /** Sends a token, which comes back. Errors are those of the stream. */
  echo(stream: string, token: number): void;
  /** Asks for other clusters. Errors are those of the stream. */
  select(selection: Selection): void;
  /** Sends the order of a drain. @returns what came of it @throws Error why nothing did */
  drain(order: DrainOrder): Promise<OrderedDrain>;
  /** Ends it without a report. */
  close(): void;
}

/** Opens a stream. It never throws: problems are reported to the sink, later. */
export type OpenFeed = (request: FeedRequest, sink: FeedSink) => FeedConnection;
