/**
 * Loads the configuration again and applies it, one reload after the other: signals and exporter listeners may request
 * one.
 */
export class Reloader {
    #context;
    #running = null;
    #next = null;
    constructor(context) {
        this.#context = context;
    }
    /**
     * Reloads, after the reload in progress. A request that comes while another one waits shares that reload: it has not
     * read anything yet.
     * @returns why the reload was refused, or `null`; a refused reload leaves the old configuration in force
     */
    reload() {
        if (this.#next !== null)
            return this.#next;
        if (this.#running === null)
            return this.#run();
        this.#next = this.#running.then(() => {
            this.#next = null;
            return this.#run();
        });
        return this.#next;
    }
    #run() {
        this.#running = this.#reloadOnce().finally(() => {
            this.#running = null;
        });
        return this.#running;
    }
    async #reloadOnce() {
        const { source, log, apply, onReload } = this.#context;
        if (source === null)
            return "reload is not configured";
        let config;
        try {
            const loaded = source.load();
            if (!loaded.ok) {
                onReload("refused");
                const problems = loaded.problems.map(({ where, message }) => `${where}: ${message}`);
                log.error({ problems }, "reload refused: the old configuration stays in force");
                return problems.join("; ");
            }
            ({ config } = loaded);
            await apply(config);
        }
        catch (error) {
            onReload("refused");
            log.error({ err: error }, "reload refused: the old configuration stays in force");
            return error instanceof Error ? error.message : String(error);
        }
        onReload("applied");
        log.info({ clusters: config.clusters.length, listeners: config.listen.length }, "reloaded");
        return null;
    }
}
//# sourceMappingURL=reloader.js.map