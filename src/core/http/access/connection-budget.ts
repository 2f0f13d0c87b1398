import { readFileSync } from "node:fs";

/**
 * File descriptors that clients' connections may not use: for probes (up to four connections per node), documents,
 * forwarded calls, files, the log and the workers' channels. Half of the limit if it is lower than twice this.
 */
const reserveMax = 512;

/** Limits the connections of the process, whatever the limits of its listeners are. */
export class ConnectionBudget {
  readonly max: number;
  #count = 0;

  /** @param descriptors the limit of open file descriptors */
  constructor(descriptors: number) {
    this.max = Math.max(1, descriptors - Math.min(reserveMax, Math.ceil(descriptors / 2)));
  }

  /** Whether no further connection may be counted. */
  get isSpent(): boolean {
    return this.#count >= this.max;
  }

  /** Counts a new connection. */
  take(): void {
    this.#count += 1;
  }

  /** Counts a closed connection. */
  release(): void {
    this.#count -= 1;
  }
}

/** The budget of this process. All its listeners share one limit of descriptors. */
export const ownBudget: ConnectionBudget = new ConnectionBudget(descriptorLimit());

/**
 * Returns the limit of open file descriptors (`ulimit -n`; Node raises the soft limit to the hard one at start).
 * @returns Infinity if the system does not state it
 */
function descriptorLimit(): number {
  return fromProc() ?? fromReport() ?? Infinity;
}

function fromProc(): number | null {
  try {
    return parseDescriptorLimit(readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return null; // not Linux
  }
}

/** Parses the soft limit of `Max open files` in `/proc/self/limits`; `null` if it is missing or unlimited. */
export function parseDescriptorLimit(text: string): number | null {
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
  return soft === undefined ? null : Number(soft);
}

/** A diagnostic report takes some milliseconds: only for systems without /proc. */
function fromReport(): number | null {
  const report: unknown = process.report.getReport();
  const limits: unknown = field(field(report, "userLimits"), "open_files");
  const soft = field(limits, "soft");
  return typeof soft === "number" ? soft : null;
}

function field(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
