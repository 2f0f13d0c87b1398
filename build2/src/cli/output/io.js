/** The streams of this process. After a closed pipe (EPIPE), output is discarded without an error. */
export function processIo() {
    const unread = new AbortController();
    return {
        stdout: sinkOf(process.stdout, unread),
        stderr: sinkOf(process.stderr, new AbortController()),
        stdin: process.stdin,
        env: process.env,
        unread: unread.signal,
    };
}
function sinkOf(stream, unread) {
    stream.on("error", () => unread.abort());
    return {
        isTerminal: stream.isTTY,
        columns: () => stream.columns ?? 80,
        rows: () => stream.rows ?? 24,
        onResize: (listener) => {
            stream.on("resize", listener);
            return () => void stream.off("resize", listener);
        },
        write: (text) => new Promise((resolve) => {
            if (unread.signal.aborted || text === "")
                resolve();
            else
                stream.write(text, () => resolve());
        }),
    };
}
//# sourceMappingURL=io.js.map