import { safeStyled } from "./style.ts";

/** An output stream of the process. */
export interface OutputStream {
  readonly isTerminal: boolean;
  /** Characters per line; 80 if the stream is not a terminal. */
  readonly columns: () => number;
  readonly rows: () => number;
  /** Calls the listener whenever the size of the terminal changes. Returns a function that removes the listener. */
  readonly onResize: (listener: () => void) => () => void;
  /** Resolves when the text was written. Never rejects: a closed reader is not an error of the command. */
  readonly write: (text: string) => Promise<void>;
}

/** An output stream of a command. What is written cannot control a terminal, wherever the text is from. */
export interface Sink extends OutputStream {
  /** Writes sequences that control the terminal. The text must contain no foreign text that is not cleaned. */
  readonly draw: (text: string) => Promise<void>;
}

/** The streams and the environment of a command line. */
export interface Io<Output extends OutputStream = Sink> {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the reader of stdout has closed it. */
  readonly stdoutClosed: AbortSignal;
}

/** The streams of this process. After a closed pipe (EPIPE), output is discarded without an error. */
export function processIo(): Io<OutputStream> {
  const stdoutClosed = new AbortController();
  return {
    stdout: streamOf(process.stdout, stdoutClosed),
    stderr: streamOf(process.stderr, new AbortController()),
    stdin: process.stdin,
    env: process.env,
    stdoutClosed: stdoutClosed.signal,
  };
}

/**
 * Makes a stream a sink: pipes too are read on terminals, so text is cleaned for any stream, except for the colours of
 * a style.
 */
export function sinkOf(stream: OutputStream): Sink {
  return {
    isTerminal: stream.isTerminal,
    columns: () => stream.columns(),
    rows: () => stream.rows(),
    onResize: (listener) => stream.onResize(listener),
    write: (text) => stream.write(safeStyled(text)),
    draw: (text) => stream.write(text),
  };
}

function streamOf(stream: NodeJS.WriteStream, closed: AbortController): OutputStream {
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
