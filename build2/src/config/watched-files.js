import { watchFiles } from "./file-watcher.js";
/**
 * Files that are read together, and read again whenever one of them changes: TLS certificates and keys, tokens,
 * passwords.
 */
export class WatchedFiles {
    #paths;
    #read;
    #events;
    #watcher = null;
    /** @param read reads the files; throws an Error if one cannot be read, with its name in the message */
    constructor(paths, read, events) {
        this.#paths = paths;
        this.#read = read;
        this.#events = events;
    }
    /** Reads the files now. @returns `null` if they cannot be read, after `onProblem` */
    read() {
        try {
            return this.#read();
        }
        catch (error) {
            this.#events.onProblem(error instanceof Error ? error.message : String(error));
            return null;
        }
    }
    /** Watches the files from now on. */
    start() {
        if (this.#paths.length === 0)
            return;
        this.#watcher ??= watchFiles(this.#paths, () => this.#reload());
    }
    close() {
        this.#watcher?.close();
        this.#watcher = null;
    }
    #reload() {
        const content = this.read();
        if (content !== null)
            this.#events.onChange(content);
    }
}
//# sourceMappingURL=watched-files.js.map