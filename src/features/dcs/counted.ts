import type { CountedMetric } from "../../core/metrics/counted-metrics.ts";

/** What the watch of the DCS counts. */
export const dcsCounted = {
  dcsReads: {
    type: "counter",
    name: "rolecall_dcs_reads_total",
    help: "Linearizable reads of the leader key in the DCS.",
    labels: ["cluster", "outcome"],
  },
  dcsWatchEnds: {
    type: "counter",
    name: "rolecall_dcs_watch_ends_total",
    help: "Watches of the DCS that ended and were opened again, by cause.",
    labels: ["cluster", "cause"],
  },
  dcsWithdrawals: {
    type: "counter",
    name: "rolecall_dcs_withdrawals_total",
    help: "Times that the leader key stopped naming a member, which then gets no yes as the leader.",
    labels: ["cluster"],
  },
} as const satisfies Readonly<Record<string, CountedMetric>>;

type DcsCounted = typeof dcsCounted;

declare module "../../core/metrics/counted-metrics.ts" {
  interface FeatureCounted extends DcsCounted {}
}
