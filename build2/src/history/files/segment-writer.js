import { compressSegment, listSegments, openForAppending, pruneSegments, segmentPath, } from "./segment-files.js";
/** How much is written at once, in bytes. */
const batchBytes = 256 * 1024;
/** Writes the files of one stream, one after the other, and deletes or compresses those that are complete. */
export class SegmentWriter {
    #settings;
    #context;
    #file = null;
    #bytes = 0;
    #number = 0;
    constructor(settings, context) {
        this.#settings = settings;
        this.#context = context;
    }
    /**
     * Writes lines that wait. What cannot be written stays in the queue.
     * @throws the file system's error; the next call opens the file again
     */
    async write(queue) {
        try {
            while (!queue.isEmpty) {
                if (this.#file === null)
                    await this.#openLast(queue);
                else if (this.#bytes >= this.#settings.segmentBytes || queue.startsFile)
                    await this.#openNext(queue);
                const lines = queue.peek(batchBytes);
                await this.#append(lines);
                queue.written(lines.length);
            }
        }
        catch (error) {
            // What was written of the failed batch is written again.
            await this.#file?.truncate(this.#bytes).catch(() => { });
            await this.close();
            throw error;
        }
    }
    /** Begins the next file at the next call if someone deleted this one. */
    async checkFile() {
        const info = await this.#file?.stat();
        if (info?.nlink === 0)
            await this.close();
    }
    /** Deletes what is too old or too much, and compresses what is complete. @throws the file system's error */
    async tidy() {
        const { directory, stream, sizeMax, ageMaxMs, segmentBytes } = this.#settings;
        // The present file may grow to its full size.
        const limits = { sizeMax: sizeMax - segmentBytes, writtenSinceMs: this.#context.wall() - ageMaxMs };
        await pruneSegments(await listSegments(directory, stream), limits);
        for (const segment of await listSegments(directory, stream))
            if (!segment.isCompressed && segment.number < this.#number)
                await compressSegment(segment);
    }
    async close() {
        const file = this.#file;
        this.#file = null;
        await file?.close().catch(() => { });
    }
    /** Continues the newest file, unless it is complete or the clock was set back since. */
    async #openLast(queue) {
        const { directory, stream, segmentBytes } = this.#settings;
        const last = (await listSegments(directory, stream)).at(-1);
        const isContinued = last !== undefined &&
            !last.isCompressed &&
            last.bytes < segmentBytes &&
            last.writtenAtMs <= this.#context.wall() + 1_000;
        this.#number = last === undefined ? 1 : isContinued ? last.number : last.number + 1;
        await this.#open(queue);
    }
    async #openNext(queue) {
        await this.close();
        this.#number += 1;
        await this.#open(queue);
    }
    async #open({ firstAtMs }) {
        const { directory, stream } = this.#settings;
        const path = segmentPath(directory, stream, this.#number);
        const { file, bytes, removed } = await openForAppending(path);
        this.#file = file;
        this.#bytes = bytes;
        if (removed > 0)
            this.#context.onRepaired(path, removed);
        await this.#append(this.#context.head(firstAtMs ?? this.#context.wall()));
    }
    async #append(lines) {
        if (this.#file === null || lines.length === 0)
            return;
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        await this.#file.appendFile(bytes);
        this.#bytes += bytes.length;
    }
}
//# sourceMappingURL=segment-writer.js.map