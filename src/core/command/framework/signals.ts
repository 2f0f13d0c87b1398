/** The signals that a service handles. */
export type ServiceSignal = "SIGTERM" | "SIGINT" | "SIGHUP";

/** The signals of this process, in the order they arrived. None is lost while another one is handled. */
export interface SignalQueue {
  next(): Promise<ServiceSignal>;
  /** The next signal that ends the process; discards every SIGHUP before it. */
  nextTermination(): Promise<"SIGTERM" | "SIGINT">;
}

/** Starts to collect the signals of this process. */
export function collectSignals(): SignalQueue {
  const pending: ServiceSignal[] = [];
  let wake: ((signal: ServiceSignal) => void) | null = null;
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (wake === null) pending.push(signal);
      else wake(signal);
      wake = null;
    });
  }
  const next = (): Promise<ServiceSignal> =>
    new Promise((resolve) => {
      const first = pending.shift();
      if (first === undefined) wake = resolve;
      else resolve(first);
    });
  return {
    next,
    nextTermination: async () => {
      for (;;) {
        const signal = await next();
        if (signal !== "SIGHUP") return signal;
      }
    },
  };
}
