import { html, useState } from "../html.js";
import { useDocument } from "../live/hooks.js";
import { dataOf, known, wordsFor } from "../live/reading.js";
import { NotKnown } from "../parts/told.js";
import { LagChart } from "./lag-chart.js";

/** The times that can be shown. Memory keeps the first; the others need a history on disk. */
const spans = [
  { since: "15min", word: "15 min", ms: 15 * 60_000 },
  { since: "1h", word: "1 h", ms: 3_600_000 },
  { since: "6h", word: "6 h", ms: 6 * 3_600_000 },
  { since: "24h", word: "24 h", ms: 24 * 3_600_000 },
  { since: "7d", word: "7 d", ms: 7 * 86_400_000 },
];
/** How often a time of the history is read again, in ms: it has one value a minute. */
const readMs = 60_000;

/**
 * The lag over a chosen time: what the server kept, then what the page received, with the events of that time. An
 * incident shows its own time.
 */
export function LagHistory({ cluster, store, limits }) {
  const [span, setSpan] = useState(spans[0]);
  const isRecent = span === spans[0];
  const name = encodeURIComponent(cluster.cluster);
  const key = isRecent ? store.missed : `${store.missed} ${Math.floor(store.wallMs() / readMs)}`;
  const past = useDocument(store.isPast ? null : `clusters/${name}/lag${isRecent ? "" : `?since=${span.since}`}`, key);
  const events = useDocument(`events?cluster=${name}&since=${span.since}&limit=500`, store.missed);
  const kept = dataOf(events)?.events ?? [];
  const ids = new Set(kept.map(({ id }) => id));
  const received = store.events.filter((event) => event.cluster === cluster.cluster && !ids.has(event.id));
  // An incident holds what the server kept.
  const lag = store.isPast ? known(null) : past;
  const nowMs = store.wallMs();
  const time = store.isPast
    ? { fromMs: store.wallMs(store.fromMs), toMs: store.wallMs(store.toMs) }
    : { fromMs: nowMs - span.ms, toMs: nowMs };
  return html`
    ${store.isPast ? null : html`<${Spans} span=${span} onChange=${setSpan} />`}
    <${LagChart}
      cluster=${cluster}
      samples=${store.samples}
      past=${dataOf(lag)}
      isKnown=${lag.kind === "known"}
      events=${[...kept, ...received]}
      time=${time}
      limits=${limits}
    />
    ${[
      [lag, "the lag before this page was opened"],
      [events, "events in the chart"],
    ].map(([reading, what]) => {
      const text = wordsFor(reading, what);
      return text === null ? null : html`<${NotKnown} key=${what} reading=${reading} text=${text} />`;
    })}
    <${Kept} data=${dataOf(lag)} isRecent=${isRecent} />
  `;
}

function Spans({ span, onChange }) {
  return html`<div class="filters" role="group" aria-label="Time of the lag">
    ${spans.map(
      (each) =>
        html`<button
          type="button"
          class="chip"
          key=${each.since}
          aria-pressed=${String(each === span)}
          onClick=${() => onChange(each)}
        >
          ${each.word}
        </button>`,
    )}
  </div>`;
}

/** What limits the shown time. */
function Kept({ data, isRecent }) {
  if (isRecent || data === null) return null;
  if (!data.history)
    return html`<p class="note">
      Memory keeps 15 minutes. A history on disk (<code>history.directory</code>) keeps more.
    </p>`;
  return html`<p class="note">
    The highest lag of each ${data.step_ms / 60_000 === 1 ? "minute" : `${data.step_ms / 60_000} minutes`}, from the
    history on disk.${data.complete ? "" : " Some of it is left out, because there is too much to read."}
  </p>`;
}
