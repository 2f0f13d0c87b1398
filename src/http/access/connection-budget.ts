import { readFileSync } from "node:fs";

/**
 * Descriptors kept back for what is not a client's connection: probes (up to four connections a node), documents, calls that are passed
 * on, files, the log, workers' channels. Half of a limit that is lower than twice this.
 */
const reserveMax = 512;

/** How many connections this process may hold beside its own work, whatever the limits of single listeners say. */
export class ConnectionBudget {
  readonly max: number;
  #count = 0;

  /** @param descriptors how many files and sockets the process may have open */
  constructor(descriptors: number) {
    this.max = Math.max(1, descriptors - Math.min(reserveMax, Math.ceil(descriptors / 2)));
  }

  /** Counts one connection more. @returns whether there is room; else nothing is counted */
  take(): boolean {
    if (this.#count >= this.max) return false;
    this.#count += 1;
    return true;
  }

  /** Counts one connection less. */
  release(): void {
    this.#count -= 1;
  }
}

/** The budget of this process: its limit of descriptors is one for all its listeners. */
export const ownBudget: ConnectionBudget = new ConnectionBudget(descriptorLimit());

/**
 * How many descriptors this process may have (`ulimit -n`; Node raises the soft limit to the hard one as it starts).
 * @returns Infinity where the system does not state it
 */
function descriptorLimit(): number {
  return fromProc() ?? fromReport() ?? Infinity;
}

function fromProc(): number | null {
  try {
    return parseDescriptorLimit(readFileSync("/proc/self/limits", "utf8"));
  } catch {
    return null; // no Linux
  }
}

/** Reads the soft limit of `Max open files` in the text of `/proc/self/limits`; `null` where there is none, or it is unlimited. */
export function parseDescriptorLimit(text: string): number | null {
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
  return soft === undefined ? null : Number(soft);
}

/** A report takes some milliseconds to make, so it is only made where the kernel has no file to read. */
function fromReport(): number | null {
  const report: unknown = process.report.getReport();
  const limits: unknown = field(field(report, "userLimits"), "open_files");
  const soft = field(limits, "soft");
  return typeof soft === "number" ? soft : null;
}

function field(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
