import type { DatabaseAddress } from "../../core/cluster/node.ts";
import { formatHostPort } from "../../core/config/values/address.ts";
import { isDifferentAddress } from "../../core/health/evidence/node/identity.ts";
import { addedIds, type ServerState } from "./server-state.ts";

/** A member of the cluster that a backend should have a server for. */
export interface MemberServer {
  readonly server: string;
  /** An IP address; `null`: the member gets no server now. */
  readonly address: DatabaseAddress | null;
}

/** What a backend is compared with. */
export interface BackendMembers {
  readonly backend: string;
  /** The words of every added server. */
  readonly words: string;
  /** Whether other servers that rolecall added belong to nobody, so that they leave. */
  readonly isComplete: boolean;
  readonly members: readonly MemberServer[];
}

/**
 * What happens to a server that rolecall added or adds: `add`, then `start`; `move` to another address; `leave`, which
 * ends new sessions; `stay`, if the node came back meanwhile; `remove` once it has no session.
 */
export interface MemberStep {
  readonly kind: "add" | "start" | "move" | "leave" | "stay" | "remove";
  readonly server: string;
  /** Where it leads to; `null` for a server that leaves. */
  readonly address: DatabaseAddress | null;
  readonly commands: readonly string[];
}

/**
 * Compares the servers of a backend with the members of its cluster. Servers that rolecall has not added stay as they
 * are. A server with the weight 0 is one that leaves: rolecall sets no such weight otherwise. Pure.
 */
export function memberSteps(wanted: BackendMembers, states: ReadonlyMap<string, ServerState>): readonly MemberStep[] {
  const { backend, members, isComplete } = wanted;
  const ids = freeIds(states);
  const known = members.flatMap((member): readonly MemberStep[] => {
    const state = states.get(member.server);
    if (state !== undefined) return state.isAdded ? keptSteps(backend, member, state) : [];
    return member.address === null ? [] : addSteps(wanted, member, ids);
  });
  const names = new Set(members.map(({ server }) => server));
  const gone = [...states].filter(([server, { isAdded }]) => isComplete && isAdded && !names.has(server));
  return [...known, ...gone.map(([server, state]) => goneStep(backend, server, state))];
}

/**
 * Starts a server that is in maintenance, without an instant in which it gets sessions: first it drains, then it counts
 * as down, and then it is released, so that a verdict or its checks decide. The checks are turned on last: a server
 * that does not have them is one that another rolecall, or this one before its end, has not started.
 */
export function startCommands(backend: string, server: string, weight: number | null = null): readonly string[] {
  const name = `${backend}/${server}`;
  return [
    `set server ${name} state drain`,
    `set server ${name} health down`,
    ...(weight === null ? [] : [`set server ${name} weight ${weight}`]),
    `set server ${name} state ready`,
    `enable health ${name}`,
  ];
}

function addSteps(
  { backend, words }: BackendMembers,
  { server, address }: MemberServer,
  ids: Iterator<number>,
): readonly MemberStep[] {
  const { value: id } = ids.next();
  if (address === null || id === undefined) return [];
  const command = `add server ${backend}/${server} ${formatHostPort(address)} id ${id} ${words}`;
  return [{ kind: "add", server, address, commands: [command] }];
}

function keptSteps(
  backend: string,
  { server, address: wanted }: MemberServer,
  { address, isChecked, isInMaintenance, weight, initialWeight }: ServerState,
): readonly MemberStep[] {
  const name = `${backend}/${server}`;
  const isMoved = wanted !== null && (address === null || isDifferentAddress(wanted, address));
  const isLeaving = weight === 0 && initialWeight > 0;
  const move: readonly MemberStep[] = isMoved
    ? [
        {
          kind: "move",
          server,
          address: wanted,
          commands: [`set server ${name} health down`, `set server ${name} addr ${wanted.host} port ${wanted.port}`],
        },
      ]
    : [];
  const isStarted = isChecked && !(isLeaving && isInMaintenance);
  if (!isStarted) {
    const commands = startCommands(backend, server, isLeaving ? initialWeight : null);
    return [...move, { kind: "start", server, address: wanted, commands }];
  }
  if (!isLeaving) return move;
  const stay = {
    kind: "stay",
    server,
    address: wanted,
    commands: [`set server ${name} weight ${initialWeight}`],
  } as const;
  return [...move, stay];
}

/** In maintenance its open sessions would end: so it waits for their end first. */
function goneStep(backend: string, server: string, { weight, initialWeight }: ServerState): MemberStep {
  const name = `${backend}/${server}`;
  return weight > 0 && initialWeight > 0
    ? { kind: "leave", server, address: null, commands: [`set server ${name} weight 0`] }
    : { kind: "remove", server, address: null, commands: [`set server ${name} state maint`, `del server ${name}`] };
}

function* freeIds(states: ReadonlyMap<string, ServerState>): Generator<number, undefined> {
  const taken = new Set([...states.values()].map(({ id }) => id));
  for (let id: number = addedIds.first; id <= addedIds.last; id += 1) if (!taken.has(id)) yield id;
  return undefined;
}

/** Reads the answer to `show stat BACKEND 4 -1`. @returns the servers that have sessions, or some that wait for one */
export function busyServers(answer: string): ReadonlySet<string> {
  const [head = "", ...rows] = answer.split("\n");
  const columns = head.replace(/^# /, "").split(",");
  const cell = (row: readonly string[], name: string): string => row[columns.indexOf(name)] ?? "";
  const split = rows.map((row) => row.split(","));
  const busy = split.filter((row) => cell(row, "scur") !== "0" || cell(row, "qcur") !== "0");
  return new Set(busy.map((row) => cell(row, "svname")));
}
