import { formatKnownDuration, formatLag, sparkline } from "../../output/figures.js";
import { nodeCondition } from "../selection/condition.js";
/**
 * The columns of the table, in the order in which they are shown. Notes are no column: see `nodeNotes`.
 * @param isWide adds the columns of `--output wide`
 * @param history adds a sparkline of the lag of each node
 */
export function statusColumns(style, isWide, history) {
    const wide = (...columns) => (isWide ? columns : []);
    return [
        { title: "", dropRank: 0, cell: (node) => markOf(nodeCondition(node), style) },
        { title: "NODE", dropRank: 0, cell: ({ node }) => ({ text: node, paint: style.bold }) },
        ...wide({ title: "HOST", dropRank: 7, cell: (node) => ({ text: hostOf(node) }) }),
        { title: "ROLE", dropRank: 1, cell: ({ role, was }) => ({ text: was === null ? (role ?? "-") : `was ${was}` }) },
        ...wide({ title: "SYNC", dropRank: 8, cell: (node, cluster) => ({ text: syncOf(node, cluster) }) }),
        { title: "STATE", dropRank: 5, cell: ({ state }) => ({ text: state ?? "-" }) },
        { title: "TL", dropRank: 9, isRightAligned: true, cell: ({ timeline }) => ({ text: String(timeline ?? "-") }) },
        { title: "LAG", dropRank: 2, isRightAligned: true, cell: ({ lag_bytes: lag }) => ({ text: formatLag(lag) }) },
        {
            title: "LAG TIME",
            dropRank: 6,
            isRightAligned: true,
            cell: ({ lag_ms: lag }) => ({ text: formatKnownDuration(lag) }),
        },
        {
            title: "AGE",
            dropRank: 3,
            isRightAligned: true,
            cell: ({ age_ms: age }) => ({ text: formatKnownDuration(age) }),
        },
        ...wide({ title: "VERSION", dropRank: 10, cell: ({ version }) => ({ text: version ?? "-" }) }),
        { title: "FIT FOR", dropRank: 4, cell: (node) => fitCell(node, style) },
        ...wide({ title: "TAGS", dropRank: 11, cell: ({ tags }) => ({ text: tagsText(tags) }) }),
        ...(history === null ? [] : [historyColumn(history)]),
    ];
}
/** The number of lags in a sparkline. */
export const lagSamplesMax = 30;
function historyColumn(history) {
    return {
        title: "LAG HISTORY",
        dropRank: 12,
        isRightAligned: true,
        // Of full width from the start, so that the columns stay where they are. The newest lag is at the right.
        cell: ({ node }, { cluster }) => ({ text: sparkline(history(cluster, node)).padStart(lagSamplesMax) }),
    };
}
function markOf(condition, style) {
    switch (condition) {
        case "ok":
            return { text: "ok", paint: style.green };
        case "drained":
            return { text: "--", paint: style.dim };
        case "warning":
            return { text: "!", paint: style.yellow };
        case "unfit":
            return { text: "NO", paint: style.red };
    }
}
/** The address of the database; of the API if the database's is not known. */
function hostOf({ database, api, exporter }) {
    return database ?? (api ?? exporter ?? "-").replace(/^https?:\/\//, "");
}
function syncOf({ node, role, sync_role: sync }, { leader }) {
    return sync ?? (node === leader || role !== "replica" ? "-" : "async");
}
function tagsText(tags) {
    const texts = Object.entries(tags).map(([name, value]) => (value === "true" ? name : `${name}=${value}`));
    return texts.length === 0 ? "-" : texts.join(" ");
}
/** The role routes that the node is fit for; with a question mark where that is not known yet. */
function fitCell({ verdicts }, style) {
    const mark = (route) => verdicts[route] === "fit" ? [route] : verdicts[route] === "not known" ? [`${route}?`] : [];
    const fit = ["primary", "standby-leader", "replica", "sync", "quorum", "async"].flatMap(mark).join(" ");
    return fit === "" ? { text: "nothing", paint: style.red } : { text: fit, paint: style.green };
}
//# sourceMappingURL=columns.js.map