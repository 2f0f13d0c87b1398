import { html } from "../html.js";
import { linkTo, useDocument } from "../live/hooks.js";
import { dataOf, withStream, wordsFor } from "../live/reading.js";
import { showInstant } from "../past/past.js";
import { toneOfEvent } from "../parts/condition.js";
import { dateText, wordsOf } from "../parts/format.js";
import { useMore } from "../parts/many.js";
import { CodeText, Mark } from "../parts/marks.js";
import { NotKnown } from "../parts/told.js";

/**
 * Events, the newest first: those of the server's memory and history, and those that happened since.
 * @param query the query of `/events`
 * `isWanted` selects live events (by default those of `cluster`), `matches` which of all are shown.
 */
export function EventList({ query, store, cluster, matches = () => true, showsCluster = false, ...rest }) {
  const { isWanted = (event) => event.cluster === cluster || event.cluster === null } = rest;
  const reading = withStream(useDocument(`events?${query}`, store.missed), store);
  const data = dataOf(reading);
  const known = new Set(data?.events.map(({ id }) => id));
  const live = store.events.filter((event) => isWanted(event) && !known.has(event.id));
  const events = [...live, ...(data?.events.toReversed() ?? [])].filter(matches);
  const [most, more] = useMore(events.length, "events");
  const words = wordsFor(reading, "events");
  const note = words === null ? null : html`<${NotKnown} reading=${reading} text=${words} />`;
  if (events.length === 0) return note ?? html`<p class="empty">Nothing happened that this selection shows.</p>`;
  return html`${note}
    <ol class="events">
      ${events.slice(0, most).map(
        (event) =>
          html`<li key=${event.id} class=${event.severity}>
            <${Instant} event=${event} />
            <span class="kind"><${Mark} tone=${toneOfEvent(event)} />${wordsOf(event.kind)}</span>
            ${showsCluster && event.cluster !== null ? html`<a class="of" href=${linkTo("clusters", event.cluster)} title=${event.cluster}>${event.cluster}</a>` : null}
            <span class="message"><${CodeText} text=${event.message} /></span>
          </li>`,
      )}
    </ol>
    ${more}
    ${data?.more ? html`<p class="note">Older events are left out. rolecall history shows all that are kept.</p>` : null}`;
}

/** The time of an event leads to its cluster as it was then. */
function Instant({ event: { cluster, at } }) {
  const time = html`<time datetime=${at}>${dateText(at)}</time>`;
  if (cluster === null) return html`<span class="instant">${time}</span>`;
  const href = linkTo("clusters", cluster, "at", at);
  // The address may be the present one already, while another instant is shown.
  const again = (event) => {
    if (location.hash !== href) return;
    event.preventDefault();
    void showInstant(cluster, Date.parse(at));
  };
  const title = `Show ${cluster} as it was at ${at}`;
  return html`<a class="instant" href=${href} title=${title} onClick=${again}>${time}</a>`;
}
