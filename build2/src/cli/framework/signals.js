/** Starts to collect the signals of this process. */
export function collectSignals() {
    const pending = [];
    let wake = null;
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
        process.on(signal, () => {
            if (wake === null)
                pending.push(signal);
            else
                wake(signal);
            wake = null;
        });
    }
    const next = () => new Promise((resolve) => {
        const first = pending.shift();
        if (first === undefined)
            wake = resolve;
        else
            resolve(first);
    });
    return {
        next,
        nextTermination: async () => {
            for (;;) {
                const signal = await next();
                if (signal !== "SIGHUP")
                    return signal;
            }
        },
    };
}
//# sourceMappingURL=signals.js.map