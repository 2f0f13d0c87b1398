import type { DatabaseAddress } from "../../core/cluster/node.ts";
import { RuntimeApiError } from "./runtime-session.ts";

/** The state of one server, from `show servers state`. */
export interface ServerState {
  readonly operational: "stopped" | "starting" | "running" | "stopping";
  /** Unique in its backend. */
  readonly id: number;
  /** Whether rolecall added it, see {@link addedIds}. */
  readonly isAdded: boolean;
  /** `null`: HAProxy has not resolved its name. */
  readonly address: DatabaseAddress | null;
  /** Whether an operator or the configuration has put it into maintenance, or drains it. */
  readonly isReserved: boolean;
  /** Whether it is in maintenance by a command, as every server is that was just added. */
  readonly isInMaintenance: boolean;
  /** Whether HAProxy checks it: only then a wrong push is corrected. */
  readonly isChecked: boolean;
  /** The number of successful checks in a row that count: 0 after a failure that took it down. */
  readonly checkHealth: number;
  /** The weight now, and the one of the configuration. */
  readonly weight: number;
  readonly initialWeight: number;
}

/**
 * The ids of the servers that rolecall adds. HAProxy lists ids, so every rolecall recognises these servers, also after a
 * restart. HAProxy itself counts from 1.
 */
export const addedIds = { first: 1_919_000_000, last: 1_919_099_999 } as const;

const operational = ["stopped", "starting", "running", "stopping"] as const;
/** All bits of srv_admin_state except 0x04, which only says that the configuration has the word `disabled`. */
const reservedBits = 0x7b;
/** The bit of srv_admin_state for maintenance by a command. */
const maintenanceBit = 0x01;
/** The bits of srv_check_state: checks are configured, and enabled. */
const checkedBits = 0x06;

/**
 * Reads the answer to `show servers state BACKEND`.
 * @returns the states by server name; `null` if there is no such backend
 * @throws RuntimeApiError if it is no answer of HAProxy
 */
export function parseServerStates(answer: string): ReadonlyMap<string, ServerState> | null {
  if (/^Can't find backend/i.test(answer)) return null;
  const lines = answer.split("\n");
  const columns = lines
    .find((line) => line.startsWith("# "))
    ?.slice(2)
    .trim()
    .split(" ");
  if (columns === undefined) throw new RuntimeApiError(`unexpected answer to show servers state: ${printed(answer)}`);
  const states = new Map<string, ServerState>();
  for (const line of lines.slice(lines.findIndex((text) => text.startsWith("# ")) + 1)) {
    const cells = line.trim().split(" ");
    const cell = (name: string): string | undefined => cells[columns.indexOf(name)];
    const name = cell("srv_name");
    if (name === undefined) continue;
    const admin = Number(cell("srv_admin_state"));
    const checks = Number(cell("srv_check_state"));
    const [id, host, port] = [Number(cell("srv_id")), cell("srv_addr") ?? "-", Number(cell("srv_port"))];
    states.set(name, {
      id,
      isAdded: cell("srv_f_forced_id") === "1" && id >= addedIds.first && id <= addedIds.last,
      address: host === "-" ? null : { host, port },
      operational: operational[Number(cell("srv_op_state"))] ?? "stopped",
      isReserved: (admin & reservedBits) !== 0,
      isInMaintenance: (admin & maintenanceBit) !== 0,
      isChecked: (checks & checkedBits) === checkedBits,
      checkHealth: Number(cell("srv_check_health")),
      weight: Number(cell("srv_uweight")),
      initialWeight: Number(cell("srv_iweight")),
    });
  }
  return states;
}

/** Shortens an unexpected answer for a message. */
export function printed(answer: string): string {
  return JSON.stringify(answer.slice(0, 80));
}
