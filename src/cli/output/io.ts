/** Where a command writes. */
export interface Sink {
  readonly isTerminal: boolean;
  /** Characters a line; 80 where it is no terminal. */
  readonly columns: () => number;
  readonly rows: () => number;
  /** Resolves when the text has left. Never rejects: a reader that went away is no fault of the command. */
  readonly write: (text: string) => Promise<void>;
}

/** What a command line runs with. */
export interface Io {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when nobody reads the output any more. */
  readonly unread: AbortSignal;
}

/** The process's own streams. A closed pipe (EPIPE) is silence from then on, no error. */
export function processIo(): Io {
  const unread = new AbortController();
  return {
    stdout: sinkOf(process.stdout, unread),
    stderr: sinkOf(process.stderr, new AbortController()),
    stdin: process.stdin,
    env: process.env,
    unread: unread.signal,
  };
}

function sinkOf(stream: NodeJS.WriteStream, unread: AbortController): Sink {
  stream.on("error", () => unread.abort());
  return {
    isTerminal: stream.isTTY,
    columns: () => stream.columns ?? 80,
    rows: () => stream.rows ?? 24,
    write: (text) =>
      new Promise((resolve) => {
        if (unread.signal.aborted || text === "") resolve();
        else stream.write(text, () => resolve());
      }),
  };
}
