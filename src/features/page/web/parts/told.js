import { html } from "../html.js";
import { dataOf, wordsFor } from "../live/reading.js";
import { CodeText, Mark } from "./marks.js";

/**
 * Shows a reading: what is known, else that it is being read, or why it is not known, with what was known before in
 * grey.
 * @param what it is of, such as `events`
 * @param children draws the data; it also gets whether they are known now: of old data nothing is said to be none
 */
export function Told({ reading, what, children }) {
  const data = dataOf(reading);
  const isKnown = reading.kind === "known";
  const words = wordsFor(reading, what);
  return html`${words === null ? null : html`<${NotKnown} reading=${reading} text=${words} />`}
  ${data === null ? null : html`<div class=${isKnown ? null : "dim"}>${children(data, isKnown)}</div>`}`;
}

/** That something is not known, with its mark: never green. */
export function NotKnown({ reading, text }) {
  return html`<p class="empty unknown" data-reading=${reading.kind}>
    <${Mark} tone="stale" /> <${CodeText} text=${text} />
  </p>`;
}
