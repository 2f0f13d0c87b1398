import { html } from "../html.js";
import { linkTo } from "../live/hooks.js";
import { wordsOf } from "./format.js";

/** Shape of each tone, so that colour is never the only difference. */
const shapes = {
  ok: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2Z",
  warn: "M8 1.5 15 14H1Z",
  bad: "M3 3h10v10H3Z",
  idle: "M8 1.5 14.5 8 8 14.5 1.5 8Z",
  stale: "M2 6h12v4H2Z",
};

/** The mark of a tone: circle, triangle, square, diamond or bar. Words beside it say what it means. */
export function Mark({ tone }) {
  return html`<svg class=${`mark ${tone}`} viewBox="0 0 16 16" aria-hidden="true">
    <path d=${shapes[tone] ?? shapes.idle} />
  </svg>`;
}

/** A short label. */
export function Badge({ tone = "plain", title, children }) {
  return html`<span class=${`badge ${tone}`} title=${title}>${children}</span>`;
}

/** Text in which what stands between backticks is code: commands, as the server writes them. */
export function CodeText({ text }) {
  return String(text)
    .split(/`([^`]+)`/)
    .map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part));
}

/** A reason in words, linked to its explanation. */
export function ReasonLink({ reason }) {
  return html`<a class="reason" href=${linkTo("reasons", reason)}>${wordsOf(reason)}</a>`;
}
