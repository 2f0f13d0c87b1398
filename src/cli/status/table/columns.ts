import type { StatusCluster, StatusNode } from "../../../core/command/client/cluster-status.ts";
import type { StatedLag } from "../../../core/health/evidence/node/plans.ts";
import { formatKnownDuration, formatLag, sparkline } from "../../../core/command/output/figures.ts";
import type { Style } from "../../../core/command/output/style.ts";
import type { Cell } from "../../../core/command/output/table.ts";

/** Returns the recent lags of a node in bytes, oldest first; `null` where the lag was unknown. */
export type LagHistory = (cluster: string, node: string) => readonly (number | null)[];

/** One column of the table of nodes. */
export interface StatusColumn {
  readonly title: string;
  readonly isRightAligned?: boolean;
  /** Columns with a higher number are left out first if the terminal is too narrow; 0 is never left out. */
  readonly dropRank: number;
  readonly cell: (node: StatusNode, cluster: StatusCluster) => Cell;
}

/**
 * The columns of the table, in the order in which they are shown. Notes are no column: see `nodeNotes`.
 * @param isWide adds the columns of `--output wide`
 * @param history adds a sparkline of the lag of each node
 */
export function statusColumns(style: Style, isWide: boolean, history: LagHistory | null): readonly StatusColumn[] {
  const wide = (...columns: StatusColumn[]): StatusColumn[] => (isWide ? columns : []);
  return [
    { title: "", dropRank: 0, cell: (node) => markOf(node.condition, style) },
    { title: "NODE", dropRank: 0, cell: ({ node }) => ({ text: node, paint: style.bold }) },
    ...wide({ title: "HOST", dropRank: 7, cell: (node) => ({ text: hostOf(node) }) }),
    { title: "ROLE", dropRank: 1, cell: ({ role, was }) => ({ text: was === null ? (role ?? "-") : `was ${was}` }) },
    ...wide({ title: "SYNC", dropRank: 8, cell: (node, cluster) => ({ text: syncOf(node, cluster) }) }),
    { title: "STATE", dropRank: 5, cell: ({ state }) => ({ text: state ?? "-" }) },
    { title: "TL", dropRank: 9, isRightAligned: true, cell: ({ timeline }) => ({ text: String(timeline ?? "-") }) },
    {
      title: "LAG",
      dropRank: 2,
      isRightAligned: true,
      cell: (node) => ({ text: isPresent(node) ? formatLag(node.lag_bytes) : "-" }),
    },
    {
      title: "LAG TIME",
      dropRank: 6,
      isRightAligned: true,
      cell: (node) => ({ text: isPresent(node) ? formatKnownDuration(node.lag_ms) : "-" }),
    },
    ...wide(statedColumn("RECEIVE LAG", "receive_lag"), statedColumn("REPLAY LAG", "replay_lag")),
    {
      title: "AGE",
      dropRank: 3,
      isRightAligned: true,
      cell: ({ age_ms: age }) => ({ text: formatKnownDuration(age) }),
    },
    ...wide({ title: "ZONE", dropRank: 10, cell: ({ zone }) => ({ text: zone ?? "-" }) }),
    ...wide({ title: "VERSION", dropRank: 11, cell: ({ version }) => ({ text: version ?? "-" }) }),
    { title: "FIT FOR", dropRank: 4, cell: (node) => fitCell(node, style) },
    ...wide({ title: "TAGS", dropRank: 12, cell: ({ tags }) => ({ text: tagsText(tags) }) }),
    ...(history === null ? [] : [historyColumn(history)]),
  ];
}

/** A lag as `/cluster` states it. */
function statedColumn(title: string, field: keyof StatedLag): StatusColumn {
  return {
    title,
    dropRank: 13,
    isRightAligned: true,
    cell: ({ node }, { stated_lags: lags }) => ({ text: formatLag(lags[node]?.[field] ?? null) }),
  };
}

/** The number of lags in a sparkline. */
export const lagSamplesMax = 30;

function historyColumn(history: LagHistory): StatusColumn {
  return {
    title: "LAG HISTORY",
    dropRank: 14,
    isRightAligned: true,
    // Of full width from the start, so that the columns stay where they are. The newest lag is at the right.
    cell: ({ node }, { cluster }) => ({ text: sparkline(history(cluster, node)).padStart(lagSamplesMax) }),
  };
}

/** Whether its figures are of the present. What was known last is a note. */
function isPresent({ evidence }: StatusNode): boolean {
  return evidence !== "last known";
}

function markOf(condition: string, style: Style): Cell {
  switch (condition) {
    case "ok":
      return { text: "ok", paint: style.green };
    case "drained":
      return { text: "--", paint: style.dim };
    case "warning":
      return { text: "!", paint: style.yellow };
    default:
      return { text: "NO", paint: style.red };
  }
}

/** The address of the database; of the API if the database's is not known. */
function hostOf({ database, api, exporter }: StatusNode): string {
  return database ?? (api ?? exporter ?? "-").replace(/^https?:\/\//, "");
}

function syncOf({ node, role, sync_role: sync }: StatusNode, { leader }: StatusCluster): string {
  return sync ?? (node === leader || role !== "replica" ? "-" : "async");
}

function tagsText(tags: StatusNode["tags"]): string {
  const texts = Object.entries(tags).map(([name, value]) => (value === "true" ? name : `${name}=${value}`));
  return texts.length === 0 ? "-" : texts.join(" ");
}

/** The role routes that the node is fit for; with a question mark where that is not known yet. */
function fitCell({ verdicts }: StatusNode, style: Style): Cell {
  const mark = (route: string): readonly string[] =>
    verdicts[route] === "fit" ? [route] : verdicts[route] === "not known" ? [`${route}?`] : [];
  const fit = ["primary", "standby-leader", "replica", "sync", "quorum", "async"].flatMap(mark).join(" ");
  return fit === "" ? { text: "nothing", paint: style.red } : { text: fit, paint: style.green };
}
