import { html } from "../html.js";

/** A list of facts, each a name and a value; a value that is null is shown as a dash. */
export function FactList({ facts }) {
  return html`<dl class="facts">
    ${facts.map(
      ([fact, value]) =>
        html`<div key=${fact}>
          <dt>${fact}</dt>
          <dd>${value ?? "–"}</dd>
        </div>`,
    )}
  </dl>`;
}
