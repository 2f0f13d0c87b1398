import { Fragment, html } from "../html.js";
import { linkTo } from "../live/hooks.js";
import { conditionOf } from "./condition.js";
import { ageText } from "./format.js";
import { CodeText } from "./marks.js";

/** What is wrong with a cluster, since when and why, as `rolecall status` says it, with a duration that counts. */
function Headline({ wrong, cause, forMs }) {
  return html`<${Fragment}>
    <strong
      >${wrong.charAt(0).toUpperCase()}${wrong.slice(1)}${forMs === null ? null : html` for <span aria-live="off">${ageText(forMs)}</span>`}</strong
    >${cause === null ? "" : html`: <${CodeText} text=${cause} />`}
  <//>`;
}

/** A document that is older than this is no news, in ms: rolecall sends one every second or so. */
const newsMs = 10_000;

/** The situation of the shown cluster: the five lines of `rolecall explain --cluster`. */
export function Situation({ cluster: { situation }, sinceMs, isLost = false }) {
  const { wrong, cause, for_ms: forMs, clients, next, action } = situation;
  const isOld = isLost || sinceMs > newsMs;
  const age = isOld ? html`<span class="unknown" aria-live="off">not updated for ${ageText(sinceMs)}</span>` : null;
  if (wrong === null)
    return html`<p class="lead situation">
      ${isOld ? html`Not known what is: ${age}. Nothing was wrong then` : "Nothing is wrong"}: ${" "}
      <${CodeText} text=${clients} />.
    </p>`;
  const { tone } = conditionOf(situation);
  const lines = [
    ["clients", clients],
    ["next", next],
    ["do", action],
  ];
  return html`<section class=${`banner situation ${tone}`} aria-label="What is wrong">
    <p role=${tone === "bad" ? "alert" : null}>
      ${isOld ? html`Last known, ${age}: ` : null}
      <${Headline} wrong=${wrong} cause=${cause} forMs=${forMs === null ? null : forMs + sinceMs} />
    </p>
    <dl>
      ${lines.map(
        ([name, text]) =>
          text !== null &&
          html`<div key=${name}>
            <dt>${name}</dt>
            <dd><${CodeText} text=${text} /></dd>
          </div>`,
      )}
    </dl>
  </section>`;
}

/** How many clusters the banner of the fleet names. */
const namedMax = 3;

/** The clusters whose clients are refused, or may reach the wrong node: they are named before everything else. */
export function SevereBanner({ rows, store }) {
  const severe = rows
    .filter((row) => conditionOf(row).tone === "bad" && row.wrong !== null)
    .toSorted((one, other) => conditionOf(one).rank - conditionOf(other).rank);
  if (severe.length === 0) return null;
  const more = severe.length - namedMax;
  return html`<div class="banner bad" role="alert">
    ${severe.slice(0, namedMax).map(
      (row) =>
        html`<p key=${row.cluster}>
          <a href=${linkTo("clusters", row.cluster)}>${row.cluster}</a>: ${" "}
          <${Headline} wrong=${row.wrong} cause=${row.cause} forMs=${sinceOf(row, store)} />
        </p>`,
    )}
    ${more > 0 ? html`<p>and ${more} more</p>` : null}
  </div>`;
}

function sinceOf({ since }, store) {
  return since === null ? null : Math.max(0, store.wallMs() - Date.parse(since));
}
