/** An output stream of a command. */
export interface Sink {
  readonly isTerminal: boolean;
  /** Characters per line; 80 if the stream is not a terminal. */
  readonly columns: () => number;
  readonly rows: () => number;
  /** Calls the listener whenever the size of the terminal changes. Returns a function that removes the listener. */
  readonly onResize: (listener: () => void) => () => void;
  /** Resolves when the text was written. Never rejects: a closed reader is not an error of the command. */
  readonly write: (text: string) => Promise<void>;
}

/** The streams and the environment of a command line. */
export interface Io {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the reader of stdout has closed it. */
  readonly stdoutClosed: AbortSignal;
}

/** The streams of this process. After a closed pipe (EPIPE), output is discarded without an error. */
export function processIo(): Io {
  const stdoutClosed = new AbortController();
  return {
    stdout: sinkOf(process.stdout, stdoutClosed),
    stderr: sinkOf(process.stderr, new AbortController()),
    stdin: process.stdin,
    env: process.env,
    stdoutClosed: stdoutClosed.signal,
  };
}

function sinkOf(stream: NodeJS.WriteStream, closed: AbortController): Sink {
  stream.on("error", () => closed.abort());
  return {
    isTerminal: stream.isTTY,
    columns: () => stream.columns ?? 80,
    rows: () => stream.rows ?? 24,
    onResize: (listener) => {
      stream.on("resize", listener);
      return () => void stream.off("resize", listener);
    },
    write: (text) =>
      new Promise((resolve) => {
        if (closed.signal.aborted || text === "") resolve();
        else stream.write(text, () => resolve());
      }),
  };
}
