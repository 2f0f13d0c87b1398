import { html, useState } from "../html.js";
import { useDocument, useStore, useTicks } from "../live/hooks.js";
import { dataOf, orNone, streamOf, wordsFor } from "../live/reading.js";
import { send } from "../live/session.js";
import { countText, listText } from "../parts/format.js";
import { Mark } from "../parts/marks.js";
import { ActionDialog } from "./dialog.js";

const durations = ["5min", "15min", "30min", "1h", "4h", "12h", "1d"];

function pathOf({ cluster }, { node }) {
  return `drains/${encodeURIComponent(cluster)}/${encodeURIComponent(node)}`;
}

/** How often the pools are read again, in ms, while the dialog is open. */
const readMs = 5_000;

/**
 * Takes a node out of service for a time, and says before what would be left, and who loses the last server. Both are
 * said of what is, or not at all: then nothing can be confirmed.
 */
export function DrainDialog({ cluster, node, onClose }) {
  const [request, setRequest] = useState({ for: "30min", reason: "", all: false });
  const set = (part) => setRequest((last) => ({ ...last, ...part }));
  const stream = streamOf(useStore());
  // A listener may not serve pools: then only routes are known.
  const pools = orNone(useDocument("pools", useTicks(readMs)), { pools: [] });
  const unknown =
    wordsFor(stream, "what this drain would leave") ?? wordsFor(pools, "which pools lose their last server");
  const lost = lostClients(cluster, dataOf(pools)?.pools ?? [], { node: node.node, isAll: request.all });
  return html`<${ActionDialog}
    title=${`Drain ${node.node}`}
    verb="Drain"
    cluster=${cluster.cluster}
    isReady=${request.reason.trim() !== "" && stream.kind === "known" && pools.kind !== "loading"}
    act=${async () => {
      const { drain } = await send("POST", pathOf(cluster, node), request);
      return `${node.node} is drained until ${drain.until}.`;
    }}
    onClose=${onClose}
  >
    ${stream.kind === "known" ? html`<p class="preview idle">${afterDrain(cluster, node, request.all)}</p>` : null}
    ${unknown === null ? null : html`<p class="preview stale"><${Mark} tone="stale" /> ${unknown}</p>`}
    ${
      lost === null || stream.kind !== "known"
        ? null
        : html`<p class="banner bad" role="alert"><${Mark} tone="bad" /> ${lost}.</p>`
    }
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

/** Routes that at most one node passes: a drain takes none of them from a node, unless it takes all. */
const oneNodeRoutes = ["primary", "standby-leader", "leader"];

/**
 * Says whose clients lose their last server by a drain, in the words of `rolecall drain` (src/cli/commands/lost-clients.ts,
 * with which a test compares it); null if another node is fit wherever this one is.
 */
export function lostClients({ cluster, nodes, leader }, pools, { node, isAll }) {
  if (!isAll && leader === node) return null;
  const isTaken = (route) => route !== "liveness" && (isAll || !oneNodeRoutes.includes(route));
  const own = nodes.find((one) => one.node === node)?.verdicts ?? {};
  const others = nodes.filter((one) => one.node !== node);
  const routes = Object.keys(own).filter(
    (route) => isTaken(route) && own[route] === "fit" && others.every(({ verdicts }) => verdicts[route] !== "fit"),
  );
  const emptied = pools.filter((pool) => {
    const fit = pool.members.filter((member) => member.fit);
    const [, route = ""] = /^\/([^?]*)/.exec(pool.check) ?? [];
    return pool.cluster === cluster && isTaken(route) && fit.length === 1 && fit[0].node === node;
  });
  if (routes.length === 0 && emptied.length === 0) return null;
  const users = emptied.flatMap(({ used_by: usedBy }) =>
    usedBy.map(({ kind, name, backend }) => `${kind} ${name}${backend ? `/${backend}` : ""}`),
  );
  const fitFor = routes.length > 0 ? routes.map((route) => `/${route}`) : emptied.map(({ pool }) => `pool ${pool}`);
  const who = users.length === 0 ? "clients that are sent by these checks" : `the clients of ${listText(users)}`;
  return `${node} is the only node of ${cluster} that is fit for ${listText(fitFor)}: ${who} lose their server`;
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
