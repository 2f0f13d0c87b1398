import { html, useEffect, useState } from "../html.js";
import { send } from "../live/session.js";
import { bytesText } from "../parts/format.js";
import { Mark } from "../parts/marks.js";
import { ActionDialog } from "./dialog.js";

/** A planned change of the leader: who may take over, why others may not, and a dry run before the change. */
export function SwitchoverDialog({ cluster, onClose }) {
  const path = `clusters/${encodeURIComponent(cluster)}/switchover`;
  const [options, setOptions] = useState(null);
  const [error, setError] = useState(null);
  const [dryRun, setDryRun] = useState(null);
  useEffect(() => {
    send("GET", path).then(setOptions, (reason) => setError(reason.message));
  }, [path]);
  const bodyOf = (candidate) => ({ leader: options.leader, candidate });
  const choose = (member) => {
    // An answer about a candidate that is no longer chosen is dropped.
    const show = (result) => setDryRun((last) => (last?.member === member ? { member, ...result } : last));
    setDryRun({ member, would: null });
    send("POST", `${path}?dry_run=1`, bodyOf(member)).then(show, (reason) =>
      show({ would: "fail", message: reason.message }),
    );
  };
  return html`<${ActionDialog}
    title=${`Switch over ${cluster}`}
    verb="Switch over"
    cluster=${cluster}
    isReady=${dryRun?.would === "pass"}
    act=${async () => (await send("POST", path, bodyOf(dryRun.member))).message ?? "The node accepted the switchover."}
    onClose=${onClose}
  >
    ${error === null ? null : html`<p class="banner bad" role="alert">${error}</p>`}
    ${
      options === null
        ? html`<p class="note">Reading who may take over.</p>`
        : html`<${Candidates} options=${options} chosen=${dryRun?.member} onChoose=${choose} />`
    }
    ${dryRun === null ? null : html`<${DryRun} result=${dryRun} leader=${options.leader} />`}
  <//>`;
}

function Candidates({ options: { leader, candidates }, chosen, onChoose }) {
  if (leader === null)
    return html`<p class="banner bad">No node leads. A switchover needs a leader; a failover is up to the nodes.</p>`;
  return html`<p>Leader now: <b>${leader}</b></p>
    <fieldset class="candidates">
      <legend>New leader</legend>
      ${candidates.map(
        ({ node, member, possible, message, lag_bytes: lag }) =>
          html`<label key=${node} class=${possible ? "" : "impossible"}>
            <input
              type="radio"
              name="candidate"
              value=${member}
              checked=${member === chosen}
              disabled=${!possible}
              onChange=${() => onChoose(member)}
            />
            <span
              ><b><${Mark} tone=${possible ? "ok" : "bad"} />${node}</b>
              <small>${possible ? `may take over, lag ${bytesText(lag)}` : message}</small></span
            >
          </label>`,
      )}
      ${candidates.length === 0 ? html`<p>The cluster has no other node.</p>` : null}
    </fieldset>`;
}

/** What the dry run found. */
function DryRun({ result: { member, would, node, message }, leader }) {
  if (would === null) return html`<p class="note" role="status">Dry run: nothing is changed.</p>`;
  if (would === "pass")
    return html`<p class="preview ok" role="status">
      <${Mark} tone="ok" />Dry run passed: the call would go to ${node}. Writes stop for some seconds while${" "}
      ${leader} hands over to ${member}.
    </p>`;
  return html`<p class="preview bad" role="status"><${Mark} tone="bad" />Dry run failed: ${message}</p>`;
}
