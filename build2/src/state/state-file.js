import { removeStaleDrafts } from "./files/atomic-file.js";
import { noSavedState, readSavedState, writeSavedState } from "./saved-state.js";
/** The state file of a running process. Without a configured path every method does nothing. */
export class StateFile {
    #path;
    #log;
    #written = Promise.resolve();
    /** Whether a write is queued that has not begun. It will save the state as of its beginning, so one is enough. */
    #isPending = false;
    /** @param path the configured path; a reload may change it */
    constructor(path, log) {
        this.#path = path;
        this.#log = log;
    }
    /** Resolves when every write requested so far has ended. */
    get written() {
        return this.#written;
    }
    /** Reads what an earlier run saved for these clusters. Problems are logged. */
    read(clusters) {
        const file = this.#path();
        if (file === null)
            return noSavedState;
        const saved = readSavedState(file, clusters);
        for (const problem of saved.problems)
            this.#log.warn({ file, problem }, "state file not used, or used only in part");
        return saved;
    }
    /** Removes the drafts of earlier runs that were killed while writing. */
    async removeStaleDrafts() {
        const file = this.#path();
        if (file === null)
            return;
        const removed = await removeStaleDrafts(file);
        if (removed.length > 0)
            this.#log.info({ file, removed }, "unfinished state files removed");
    }
    /**
     * Writes the file, one write after the other. A failure is logged and has no other effect.
     * @param current gives the snapshot when the write begins
     */
    write(current) {
        if (this.#path() === null || this.#isPending)
            return;
        this.#isPending = true;
        this.#written = this.#written.then(() => this.#writeNow(current));
    }
    async #writeNow(current) {
        this.#isPending = false;
        const file = this.#path();
        if (file === null)
            return;
        try {
            await writeSavedState(file, current());
        }
        catch (error) {
            this.#log.error({ err: error, file }, "state file not written");
        }
    }
}
//# sourceMappingURL=state-file.js.map