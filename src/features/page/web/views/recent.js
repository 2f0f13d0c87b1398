import { html } from "../html.js";
import { linkTo, useDocument } from "../live/hooks.js";
import { dataOf, loading, withStream } from "../live/reading.js";
import { toneOfEvent } from "../parts/condition.js";
import { ageText, countText, wordsOf } from "../parts/format.js";
import { Mark } from "../parts/marks.js";
import { mergedMarks } from "../past/time-marks.js";

/** How far the strip reaches back, in ms. */
const spanMs = 5 * 60_000;
/** How many changes it names. */
const namedMax = 3;
const worst = { error: 2, warning: 1, info: 0 };

/**
 * What changed in the last five minutes, at a glance: a mark for each event, and the worst and newest of them in words.
 * @param cluster only the events of this one; `null`: of all
 */
export function Recent({ store, cluster }) {
  const only = cluster === null ? "" : `cluster=${encodeURIComponent(cluster)}&`;
  // Before something arrives there may be no server to ask: an incident file is being opened.
  const isKnown = store.isPast || store.state === "live" || store.state === "lost";
  const path = isKnown ? `events?${only}since=15min&limit=500` : null;
  const asked = useDocument(path, store.missed);
  const reading = isKnown ? withStream(asked, store) : loading;
  const toMs = store.wallMs();
  const kept = dataOf(reading)?.events ?? [];
  const events = changedSince([...store.events, ...kept], { cluster, fromMs: toMs - spanMs, toMs });
  const named = events.toSorted((one, other) => worst[other.severity] - worst[one.severity] || other.atMs - one.atMs);
  return html`<section class="recent" aria-label="Changed in the last 5 minutes">
    <p>
      <b>Last 5 minutes</b> ${" "} <span data-reading=${reading.kind}>${changedText(reading, events.length)}</span>
      ${named
        .slice(0, namedMax)
        .map(
          (event) =>
            html`<span key=${event.id} class="change" title=${event.message}>
              <${Mark}
                tone=${toneOfEvent(event)}
              />${wordsOf(event.kind)}${cluster === null && event.cluster !== null ? html`${" "}<a href=${linkTo("clusters", event.cluster)}>${event.cluster}</a>` : null}
              ${" "}<small>${ageText(toMs - event.atMs)} ago</small>
            </span>`,
        )}
      ${named.length > namedMax ? html`<span class="change">and ${named.length - namedMax} more</span>` : null}
    </p>
    <div class=${`time-marks ${reading.kind === "known" ? "" : "unseen"}`} aria-hidden="true">
      ${mergedMarks(events, { fromMs: toMs - spanMs, toMs }).map(
        ({ atMs, tone, text }) =>
          html`<span
            key=${atMs}
            class=${`time-mark ${tone}`}
            title=${text}
            style=${{ left: `${(100 * (atMs - toMs + spanMs)) / spanMs}%` }}
          ></span>`,
      )}
    </div>
  </section>`;
}

/** How many events there were, as far as that is known. */
export function changedText(reading, count) {
  const some = count === 0 ? "" : `${countText(count, "event")}, and `;
  if (reading.kind === "loading") return `${some}reading what changed`;
  if (reading.kind === "unknown")
    return `${some}not known ${count === 0 ? "what changed" : "what else"}: ${reading.why}`;
  return count === 0 ? "nothing changed" : countText(count, "event");
}

/** The events of a time, each once, oldest first, with their instants. */
export function changedSince(events, { cluster, fromMs, toMs }) {
  const known = new Map();
  for (const event of events) {
    const atMs = Date.parse(event.at);
    const isOther = cluster !== null && event.cluster !== null && event.cluster !== cluster;
    if (!isOther && atMs >= fromMs && atMs <= toMs + 60_000)
      known.set(event.id, { ...event, atMs: Math.min(atMs, toMs) });
  }
  return [...known.values()].sort((one, other) => one.atMs - other.atMs);
}
