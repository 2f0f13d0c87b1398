/** A fault of rolecall itself: it must refuse no connection and end no session. */
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../test/fake/until.ts";
import { DatabaseClients } from "../../test/real/lab/database-clients.ts";
import { type PushedLab, readStatement, writeStatement } from "../../test/real/lab/pushed-lab.ts";

/** `absence`: all rolecalls are killed and stay away. */
export const ownFaultKinds = ["restart", "reload", "kill", "freeze", "absence"] as const;
export type OwnFaultKind = (typeof ownFaultKinds)[number];

export interface OwnFaultResult {
  readonly kind: OwnFaultKind;
  readonly instances: number;
  /** How long rolecall was away, or stood still. */
  readonly awayMs: number;
  readonly balancers: readonly {
    readonly title: string;
    /** New connections, and those without an answer. */
    readonly opened: number;
    readonly refused: number;
    readonly cut: number;
  }[];
}

/** How long the balancers are observed after the fault. */
const afterwardsMs = 1_000;

/**
 * Injects one fault into the first rolecall, or into all, with clients that write and clients that read.
 * @param clients how many hold a session and how many open new ones, on each port
 * @param awayMs how long rolecall is killed or frozen
 */
export async function playOwnFault(
  lab: PushedLab,
  kind: OwnFaultKind,
  { clients, awayMs }: { readonly clients: number; readonly awayMs: number },
): Promise<OwnFaultResult> {
  await lab.settled();
  const each = { holders: clients, openers: clients, pauseMs: 200 };
  const loads = lab.balancers.map(({ title, writePort, readPort }) => ({
    title,
    ports: [
      new DatabaseClients({ ...each, port: writePort, statement: writeStatement }),
      new DatabaseClients({ ...each, port: readPort, statement: readStatement }),
    ],
  }));
  const all = loads.flatMap(({ ports }) => ports);
  try {
    await until("sessions through every balancer", () => all.every(({ open }) => open.length === clients));
    await inject(lab, kind, awayMs);
    await sleep(afterwardsMs);
  } finally {
    await Promise.all(all.map((load) => load.stop()));
  }
  const sum = (ports: readonly DatabaseClients[], count: (load: DatabaseClients) => number): number =>
    ports.reduce((total, load) => total + count(load), 0);
  const balancers = loads.map(({ title, ports }) => ({
    title,
    opened: sum(ports, ({ opened }) => opened.length),
    refused: sum(ports, ({ refused }) => refused.length),
    cut: sum(ports, ({ cut }) => cut.length),
  }));
  const isAway = kind !== "restart" && kind !== "reload";
  return { kind, instances: lab.instances.length, awayMs: isAway ? awayMs : 0, balancers };
}

async function inject(lab: PushedLab, kind: OwnFaultKind, awayMs: number): Promise<void> {
  const rolecall = lab.rolecall();
  if (kind === "reload") return lab.reload();
  if (kind === "freeze") return sleep(awayMs).finally(rolecall.freeze());
  if (kind === "restart") {
    await rolecall.stop();
    return lab.startRolecall();
  }
  const killed = kind === "kill" ? ([1] as const) : lab.instances;
  await Promise.all(killed.map((number) => lab.rolecall(number).kill()));
  await sleep(awayMs);
  for (const number of killed) await lab.startRolecall(number);
}
