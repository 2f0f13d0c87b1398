import { html, useState } from "../html.js";
import { compareNames, toneOf } from "./condition.js";

/** How many nodes or events are drawn at first, and with each "Show more". */
export const drawnMax = 60;

/** The nodes of a cluster: the leader, then by name. If there are more than are drawn, those in trouble come before. */
export function sortedNodes({ nodes, leader }) {
  const isMany = nodes.length > drawnMax;
  const rankOf = (node) => (node.node === leader ? 0 : isMany && toneOf(node) !== "ok" ? 1 : 2);
  return nodes.toSorted((one, other) => rankOf(one) - rankOf(other) || compareNames(one.node, other.node));
}

/**
 * Bounds how much of a list is drawn.
 * @returns `[most, more]`: how many are drawn, and a button that draws more; null if all are
 */
export function useMore(total, word) {
  const [most, setMost] = useState(drawnMax);
  if (total <= most) return [most, null];
  return [
    most,
    html`<p class="note">
      ${most} of ${total.toLocaleString("en")} ${word} are shown.${" "}
      <button type="button" class="chip" onClick=${() => setMost(most + drawnMax)}>Show more ${word}</button>
    </p>`,
  ];
}

/** The first names of a list, and how many others there are. */
export function namesText(names, most = 20) {
  const more = names.length > most ? ` and ${names.length - most} more` : "";
  return names.length === 0 ? "none" : `${names.toSorted(compareNames).slice(0, most).join(", ")}${more}`;
}
