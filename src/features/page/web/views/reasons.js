import { html, useEffect } from "../html.js";
import { linkTo, useDocument } from "../live/hooks.js";
import { dataOf, wordsFor } from "../live/reading.js";
import { wordsOf } from "../parts/format.js";
import { CodeText } from "../parts/marks.js";
import { NotKnown } from "../parts/told.js";

/** What each reason means, and what to do. */
export function ReasonsView({ reason }) {
  const reading = useDocument("page/reasons.json");
  const data = dataOf(reading);
  useEffect(() => {
    if (data !== null && reason !== null) document.getElementById(`reason-${reason}`)?.scrollIntoView();
  }, [data, reason]);
  if (data === null)
    return html`<h1>Reasons</h1>
      <${NotKnown} reading=${reading} text=${wordsFor(reading, "reasons")} />`;
  return html`
    <h1>Reasons</h1>
    ${reason !== null && !Object.hasOwn(data, reason) ? html`<p class="banner warn">There is no reason ${reason}.</p>` : null}
    <p class="lead">
      Every no has exactly one reason. It is the same in the status line of a check, in the log and in the metrics.
    </p>
    <nav class="filters" aria-label="Reasons">
      ${Object.keys(data).map(
        (name) =>
          html`<a
            class="chip"
            key=${name}
            href=${linkTo("reasons", name)}
            aria-current=${name === reason ? "true" : null}
            >${wordsOf(name)}</a
          >`,
      )}
    </nav>
    ${Object.entries(data).map(
      ([name, parts]) =>
        html`<section
          key=${name}
          id=${`reason-${name}`}
          class=${name === reason ? "reason-text chosen" : "reason-text"}
        >
          <h2>${wordsOf(name)} <code>${name}</code></h2>
          <dl>
            ${Object.entries(parts).map(
              ([part, text]) =>
                html`<div>
                  <dt>${part}</dt>
                  <dd><${CodeText} text=${text} /></dd>
                </div>`,
            )}
          </dl>
        </section>`,
    )}
  `;
}
