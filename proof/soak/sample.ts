/** What a process of rolecall held at one instant. Sizes in bytes. */
export interface ProcessSample {
  readonly atMs: number;
  readonly pid: number;
  readonly kind: "main" | "worker";
  /** How late the event loop ran the timer of this sample, in ms. */
  readonly lateMs: number;
  readonly usage: {
    readonly rss: number;
    /** What V8 has committed for its heap, garbage and unused space included. */
    readonly heapTotal: number;
    readonly heapUsed: number;
    readonly external: number;
    readonly arrayBuffers: number;
    readonly descriptors: number;
    readonly threads: number;
    readonly contexts: number;
    /** What keeps the process alive: `process.getActiveResourcesInfo()`. */
    readonly handles: number;
  };
  /** The number of each kind of those handles. */
  readonly resources: Readonly<Record<string, number>>;
  /** Objects that are alive after a full collection of garbage; not in every sample. */
  readonly census?: {
    readonly promises: number;
    readonly unsettled: number;
    readonly timers: number;
    readonly liveHeap: number;
  };
  /** Uncaught exceptions, rejections and warnings of Node since the last sample. */
  readonly problems: readonly string[];
}
