import { html, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { countRows, orders, selectRows } from "../live/fleet-order.js";
import { useStore, useTicks } from "../live/hooks.js";
import { streamOf, wordsFor } from "../live/reading.js";
import { conditions } from "../parts/condition.js";
import { countText } from "../parts/format.js";
import { SevereBanner } from "../parts/situation.js";
import { NotKnown } from "../parts/told.js";
import { FleetTable } from "./fleet-table.js";
import { Recent } from "./recent.js";

/** Selections stay while another view is shown. */
const kept = { search: "", condition: "all", order: "problem" };

/** Every cluster as a row. */
export function FleetView() {
  const store = useStore();
  useTicks(1_000);
  const [wanted, setWanted] = useState(kept);
  const search = useRef(null);
  const change = (part) => setWanted(Object.assign(kept, part) && { ...kept });
  useSearchKey(search);
  const rows = [...store.rows.values()].map(({ row }) => row);
  const counts = countRows(rows);
  const shown = selectRows(rows, { ...wanted, ageOf: (cluster) => store.ageOf(cluster) });
  const stream = streamOf(store);
  // Rows arrive one after the other: before all are there, their number says nothing.
  const isCounted = stream.kind !== "loading" && (stream.kind === "known" || rows.length > 0);
  const isFiltered = wanted.search !== "" || wanted.condition !== "all";
  return html`
    <div class="toolbar">
      <h1>Fleet</h1>
      <input
        ref=${search}
        type="search"
        aria-label="Search clusters, leaders, problems"
        placeholder="Search  ( / )"
        value=${wanted.search}
        onInput=${(event) => change({ search: event.target.value })}
      />
      <label class="sort"
        >Order
        <select value=${wanted.order} onChange=${(event) => change({ order: event.target.value })}>
          ${orders.map(({ name, word }) => html`<option value=${name} selected=${name === wanted.order}>${word}</option>`)}
        </select>
      </label>
    </div>
    <${SevereBanner} rows=${rows} store=${store} />
    <${Recent} store=${store} cluster=${null} />
    <${Filters}
      counts=${counts}
      isCounted=${isCounted}
      condition=${wanted.condition}
      onChange=${(condition) => change({ condition })}
    />
    <p class="sr" role="status">
      ${isCounted ? `${countText(shown.length, "cluster")} shown` : wordsFor(stream, "clusters")}
    </p>
    ${
      shown.length > 0
        ? html`<${FleetTable} rows=${shown} store=${store} />`
        : html`<${Nothing}
            stream=${stream}
            isFiltered=${isFiltered && isCounted}
            onAll=${() => change({ search: "", condition: "all" })}
          />`
    }
  `;
}

function Filters({ counts, isCounted, condition, onChange }) {
  const filters = useMemo(
    () => [{ name: "all", word: "all" }, { name: "problems", word: "problems" }, ...conditions],
    [],
  );
  const shown = filters.filter(
    ({ name }) => name === "all" || name === "problems" || name === condition || (counts.get(name) ?? 0) > 0,
  );
  return html`<div class="filters" role="group" aria-label="Filter by condition">
    ${shown.map(
      ({ name, word, tone }) =>
        html`<button
          type="button"
          key=${name}
          class=${`chip ${tone ?? ""}`}
          aria-pressed=${String(name === condition)}
          onClick=${() => onChange(name)}
        >
          ${word} <b>${isCounted ? (counts.get(name) ?? 0) : "–"}</b>
        </button>`,
    )}
  </div>`;
}

function Nothing({ stream, isFiltered, onAll }) {
  if (isFiltered)
    return html`<p class="empty">
      No cluster fits. <button type="button" class="chip" onClick=${onAll}>Show all</button>
    </p>`;
  if (stream.kind === "known") return html`<p class="empty">No cluster is monitored.</p>`;
  return html`<${NotKnown} reading=${stream} text=${wordsFor(stream, "clusters")} />`;
}

/** `/` goes to the search, as on many pages; not while something is typed. */
function useSearchKey(search) {
  useLayoutEffect(() => {
    const onKey = (event) => {
      const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      search.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
