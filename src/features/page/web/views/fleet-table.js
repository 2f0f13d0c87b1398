import { html, useEffect, useRef, useState } from "../html.js";
import { linkTo } from "../live/hooks.js";
import { conditionOf } from "../parts/condition.js";
import { ageText, bytesText, countText, durationText } from "../parts/format.js";
import { Badge, Mark, ReasonLink } from "../parts/marks.js";

/** How many rows are drawn beyond the visible ones. */
const beyond = 8;
const columns = ["Cluster", "Primary", "Replicas fit", "Worst lag", "Evidence", "What is wrong"];

/** The rows of the fleet. Only those in sight are in the document, however many there are, and the one with the focus. */
export function FleetTable({ rows, store }) {
  const body = useRef(null);
  const { first, count, height } = useWindow(body, rows.length);
  // The row with the focus stays, wherever it is now.
  const focused = document.activeElement?.closest(".fleet-row")?.dataset.cluster;
  const kept = focused === undefined ? -1 : rows.findIndex(({ cluster }) => cluster === focused);
  const last = Math.min(first + count, rows.length);
  const drawn = Array.from({ length: Math.max(0, last - first) }, (_, at) => first + at);
  if (kept >= 0 && kept < first) drawn.unshift(kept);
  else if (kept >= last) drawn.push(kept);
  return html`<div class="fleet" role="table" aria-label="Clusters" aria-rowcount=${rows.length + 1}>
    <div role="row" class="fleet-head" aria-rowindex="1">
      ${columns.map((name) => html`<span role="columnheader">${name}</span>`)}
    </div>
    <div role="rowgroup" class="fleet-body" ref=${body} style=${{ height: `${rows.length * height}px` }}>
      ${drawn.map(
        (at) =>
          html`<${Row}
            key=${rows[at].cluster}
            row=${rows[at]}
            index=${at + 2}
            ageMs=${store.ageOf(rows[at].cluster)}
            top=${at * height}
          />`,
      )}
    </div>
  </div>`;
}

function Row({ row, index, ageMs, top }) {
  const { name, word, tone } = conditionOf(row);
  const { cluster, primary, leader, replicas, replicas_fit: fit } = row;
  return html`<div
    role="row"
    class=${`fleet-row ${tone} ${name === "two primaries" ? "conflict" : ""}`}
    data-cluster=${cluster}
    aria-rowindex=${index}
    style=${{ transform: `translateY(${top}px)` }}
  >
    <span role="cell" class="name"
      ><${Mark} tone=${tone} /><a href=${linkTo("clusters", cluster)} title=${cluster}>${cluster}</a>
      <span class=${`word ${tone}`}>${word}</span></span
    >
    <span role="cell" class="primary" data-label="primary" title=${primary ?? leader ?? ""}>
      ${primary ?? html`<em>${leader === null ? "none" : `${leader} (unfit)`}</em>`}${row.is_standby_cluster ? html` <${Badge}>standby<//>` : null}</span
    >
    <span role="cell" class="num" data-label="replicas">${replicas === 0 ? "–" : `${fit} of ${replicas}`}</span>
    <span role="cell" class="num" data-label="lag"
      >${replicas === 0 ? "–" : bytesText(row.lag_bytes)}
      ${row.lag_ms > 0 ? html`<small> ${durationText(row.lag_ms)}</small>` : null}</span
    >
    <span role="cell" class=${`num age ${isOld(ageMs) ? "old" : ""}`} data-label="age">${ageText(ageMs)}</span>
    <span role="cell" class="wrong"><${Wrong} row=${row} /></span>
  </div>`;
}

function Wrong({ row }) {
  const { problems, problem_count: count, drains, warnings, paused, failsafe, open_events: open } = row;
  return html`
    ${groupedProblems(problems).map(({ nodes, reason, detail }) => html`<span key=${reason} class="issue" title=${row.cause}><b>${nodes.join(", ")}</b> <${ReasonLink} reason=${reason} /> <small>${unheard.has(reason) ? null : detail}</small></span>`)}
    ${count > problems.length ? html`<span>and ${count - problems.length} more</span>` : null}
    ${warnings > 0 ? html`<${Badge} tone="warn">${warnings} warning${warnings === 1 ? "" : "s"}<//>` : null}
    ${open > 0 ? html`<${Badge} title="Events that have begun and not ended">${countText(open, "open event")}<//>` : null}
    ${drains > 0 ? html`<${Badge} tone="idle">${drains} drained<//>` : null}
    ${paused ? html`<${Badge} tone="idle">paused<//>` : null}
    ${failsafe ? html`<${Badge} tone="warn">failsafe<//>` : null}
  `;
}

/** The problems of a row, each reason once with its nodes. A detail that differs between them is left out. */
export function groupedProblems(problems) {
  const groups = new Map();
  for (const { node, reason, detail } of problems) {
    const known = groups.get(reason);
    if (known === undefined) groups.set(reason, { nodes: [node], reason, detail });
    else groups.set(reason, { nodes: [...known.nodes, node], reason, detail: known.detail === detail ? detail : null });
  }
  return [...groups.values()];
}

/** Why a node does not answer is in the cause, in fewer words. */
const unheard = new Set(["down", "stale", "unknown"]);

/** Evidence older than the usual limit of a yes stands out. */
export function isOld(ageMs) {
  return ageMs === null || ageMs > 5_500;
}

/** Which rows are in sight. The height of a row comes from the style sheet: narrow screens have higher rows. */
function useWindow(body, total) {
  const [range, setRange] = useState({ first: 0, count: 30, height: 44 });
  useEffect(() => {
    let frame = 0;
    const measure = () => {
      frame = 0;
      const element = body.current;
      if (element === null) return;
      const height = Number.parseFloat(getComputedStyle(element).getPropertyValue("--row")) || 44;
      const above = Math.max(0, -element.getBoundingClientRect().top);
      const first = Math.max(0, Math.floor(above / height) - beyond);
      const count = Math.ceil(innerHeight / height) + 2 * beyond;
      setRange((last) =>
        last.first === first && last.count === count && last.height === height ? last : { first, count, height },
      );
    };
    const schedule = () => (frame ||= requestAnimationFrame(measure));
    measure();
    addEventListener("scroll", schedule, { passive: true });
    addEventListener("resize", schedule);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", schedule);
      removeEventListener("resize", schedule);
    };
  }, [total]);
  return range;
}
