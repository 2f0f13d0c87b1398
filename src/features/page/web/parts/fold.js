import { html, useState } from "../html.js";
import { useNarrow } from "../live/hooks.js";

/**
 * A part of a view under its heading. On the screen of a phone it is folded, and its heading says the most important of
 * it; what is in it is not even asked for before it is opened.
 * @param summary what the folded heading says; null: nothing
 * @param isOpen whether it is open at first on a phone, too
 */
export function Fold({ id, title, note = null, summary = null, isOpen: isOpenAtFirst = false, children }) {
  const isNarrow = useNarrow();
  const [isOpen, setIsOpen] = useState(isOpenAtFirst);
  const small = note === null ? null : html` <small>${note}</small>`;
  if (!isNarrow)
    return html`<section aria-labelledby=${id}>
      <h2 id=${id}>${title}${small}</h2>
      ${children}
    </section>`;
  return html`<details class="fold" open=${isOpen} onToggle=${({ currentTarget }) => setIsOpen(currentTarget.open)}>
    <summary>
      <h2 id=${id}>${title}${isOpen ? small : null}</h2>
      ${isOpen || summary === null ? null : html`<span class="essence">${summary}</span>`}
    </summary>
    ${isOpen ? children : null}
  </details>`;
}
