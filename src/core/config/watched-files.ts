import { errorMessage } from "../cluster/values/error-message.ts";
import { watchFiles } from "./file-watcher.ts";

/** Callbacks of `WatchedFiles`. */
interface WatchedFilesEvents<Content> {
  /** Called with the new content after a file changed. */
  readonly onChange: (content: Content) => void;
  /** Called with the reason if the files cannot be read: the owner keeps the content that it has. */
  readonly onProblem: (problem: string) => void;
}

/**
 * Files that are read together, and read again whenever one of them changes: TLS certificates and keys, tokens,
 * passwords.
 */
export class WatchedFiles<Content> {
  readonly #paths: readonly string[];
  readonly #read: () => Content;
  readonly #events: WatchedFilesEvents<Content>;
  #watcher: { close(): void } | null = null;

  /** @param read reads the files; throws an Error if one cannot be read, with its name in the message */
  constructor(paths: readonly string[], read: () => Content, events: WatchedFilesEvents<Content>) {
    this.#paths = paths;
    this.#read = read;
    this.#events = events;
  }

  /** Reads the files now. @returns `null` if they cannot be read, after `onProblem` */
  read(): Content | null {
    try {
      return this.#read();
    } catch (error) {
      this.#events.onProblem(errorMessage(error));
      return null;
    }
  }

  /** Watches the files from now on. */
  start(): void {
    if (this.#paths.length === 0) return;
    this.#watcher ??= watchFiles(this.#paths, () => this.#reload());
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  #reload(): void {
    const content = this.read();
    if (content !== null) this.#events.onChange(content);
  }
}
