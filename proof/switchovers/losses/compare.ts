/** Losses that three PgBouncers meet at the same time: behind a plain HAProxy, with rolecall, and with holds. */
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../../test/fake/until.ts";
import { pgbouncer118 } from "../../../test/real/lab/pgbouncer.ts";
import { database, Lab } from "../lab.ts";
import { Load } from "../load.ts";
import { type LossKind, prepareLoss } from "./loss-kinds.ts";
import { type LossMeasure, measureLoss } from "./loss-measure.ts";

/** How the clients of a PgBouncer come to the primary. */
export const comparedPools = ["PgBouncer + HAProxy", "rolecall", "rolecall with hold_on_loss"] as const;

export interface Compared {
  readonly kind: LossKind;
  /** One for each of the pools, in their order. */
  readonly pools: readonly LossMeasure[];
}

const clients = 12;

/** @param rounds how often each kind is played */
export async function compareLosses(
  { patroni, pgbouncer }: { readonly patroni: readonly [string, ...string[]]; readonly pgbouncer: string },
  {
    kinds,
    rounds,
    untilMs,
  }: { readonly kinds: readonly LossKind[]; readonly rounds: number; readonly untilMs: number },
  onCompared: (compared: Compared) => void,
): Promise<void> {
  const old = pgbouncer118().found;
  const lab = await Lab.start({
    patroni,
    pgbouncer: comparedPools.map(() => pgbouncer),
    route: "file",
    isFirstPlain: true,
    poolerAt: (at) => (at === 0 ? null : at === 1 ? {} : { hold_on_loss: "60s" }),
  });
  const unnamed = "path" in old && old.path === pgbouncer ? lab.poolers.map(({ port }) => port) : [];
  const loads = lab.poolers.map(({ port }) => new Load({ ports: [port], database, clients, pauseMs: 5, unnamed }));
  try {
    for (let round = 0; round < rounds; round += 1)
      for (const kind of kinds) {
        if (performance.now() >= untilMs) return;
        onCompared(await compareOne(lab, loads, kind));
      }
  } finally {
    await Promise.all(loads.map((load) => load.stop()));
    await lab.stop();
  }
}

async function compareOne(lab: Lab, loads: readonly Load[], kind: LossKind): Promise<Compared> {
  const leader = await lab.settled(180);
  const writeAgain = (sinceMs: number): true | undefined =>
    loads.every(({ window: { acknowledged } }) => {
      const later = acknowledged.filter(({ startedMs }) => startedMs > sinceMs);
      return new Set(later.map(({ client }) => client)).size === clients;
    })
      ? true
      : undefined;
  for (const load of loads) load.mark();
  await until({ what: "transactions of all clients", seconds: 60 }, () => writeAgain(0));
  for (const load of loads) load.mark();
  await sleep(5_000);
  const loss = prepareLoss(kind, leader);
  const lostMs = loss.strike();
  try {
    await until({ what: "transactions of all clients after the loss", seconds: 180 }, () => writeAgain(lostMs + 500));
  } finally {
    loss.heal();
  }
  return { kind, pools: loads.map((load) => measureLoss(load.mark(), lostMs)) };
}

/** The table of bench/outage.md. */
export function comparedTable(compared: readonly Compared[]): string {
  const kinds = [...new Set(compared.map(({ kind }) => kind))];
  const head = ["loss (how often)", ...comparedPools].join(" | ");
  const rows = kinds.map((kind) => {
    const own = compared.filter((one) => one.kind === kind);
    const cells = comparedPools.map((_, at) => {
      const pools = own.flatMap(({ pools: all }) => all[at] ?? []);
      const failed = pools.reduce((sum, one) => sum + one.failed, 0);
      const transactions = pools.reduce((sum, one) => sum + one.transactions, 0);
      const longest = Math.max(...pools.map(({ longestMs }) => longestMs));
      return `${failed} of ${transactions}, ${(longest / 1_000).toFixed(1)} s`;
    });
    return `| ${[`${kind} (${own.length})`, ...cells].join(" | ")} |`;
  });
  return [`| ${head} |`, `|${"---|".repeat(comparedPools.length + 1)}`, ...rows].join("\n");
}
