import { html, useState } from "../html.js";
import { send } from "../live/session.js";
import { countText } from "../parts/format.js";
import { ActionDialog } from "./dialog.js";

const durations = ["5min", "15min", "30min", "1h", "4h", "12h", "1d"];

function pathOf({ cluster }, { node }) {
  return `drains/${encodeURIComponent(cluster)}/${encodeURIComponent(node)}`;
}

/** Takes a node out of service for a time, and says before what would be left. */
export function DrainDialog({ cluster, node, onClose }) {
  const [request, setRequest] = useState({ for: "30min", reason: "", all: false });
  const set = (part) => setRequest((last) => ({ ...last, ...part }));
  return html`<${ActionDialog}
    title=${`Drain ${node.node}`}
    verb="Drain"
    cluster=${cluster.cluster}
    isReady=${request.reason.trim() !== ""}
    act=${async () => {
      const { drain } = await send("POST", pathOf(cluster, node), request);
      return `${node.node} is drained until ${drain.until}.`;
    }}
    onClose=${onClose}
  >
    <p class="preview idle">${afterDrain(cluster, node, request.all)}</p>
    <label
      >Reason
      <input
        name="reason"
        maxlength="200"
        required
        value=${request.reason}
        onInput=${(event) => set({ reason: event.target.value })}
    /></label>
    <label
      >For
      <select name="for" value=${request.for} onChange=${(event) => set({ for: event.target.value })}>
        ${durations.map((name) => html`<option value=${name} selected=${name === request.for}>${name}</option>`)}
      </select></label
    >
    <label class="check"
      ><input type="checkbox" checked=${request.all} onChange=${(event) => set({ all: event.target.checked })} /> Refuse
      checks of the primary too</label
    >
  <//>`;
}

/** What a drain would leave, shown before it is made. */
export function afterDrain({ nodes, leader }, { node }, isAll) {
  if (node === leader)
    return isAll
      ? `${node} leads. If checks of the primary are refused too, no node accepts writes.`
      : `${node} leads: it keeps the writes, and leaves the read pools.`;
  const left = nodes.filter((each) => each.node !== node && each.verdicts.replica === "fit").length;
  return left === 0
    ? "After this drain no replica is fit for reads."
    : `After this drain ${countText(left, "replica")} ${left === 1 ? "is" : "are"} fit for reads.`;
}

/** Puts a drained node back into service. */
export function UndrainDialog({ cluster, node, onClose }) {
  const { reason, by, until } = node.drain;
  return html`<${ActionDialog}
    title=${`End the drain of ${node.node}`}
    verb="End the drain"
    cluster=${cluster.cluster}
    act=${async () => {
      await send("DELETE", pathOf(cluster, node), {});
      return `${node.node} is no longer drained.`;
    }}
    onClose=${onClose}
  >
    <p>Drained${by === null ? "" : ` by ${by}`} until ${until}: ${reason}</p>
  <//>`;
}
