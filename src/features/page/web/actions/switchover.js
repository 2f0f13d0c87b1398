import { html, useEffect, useState } from "../html.js";
import { send } from "../live/session.js";
import { bytesText } from "../parts/format.js";
import { Mark } from "../parts/marks.js";
import { ActionDialog } from "./dialog.js";
import { PreflightLines, RunSteps, useFollow } from "./seamless.js";

/** A planned change of the leader: who may take over, why others may not, and a dry run before the change. */
export function SwitchoverDialog({ cluster, onClose }) {
  const path = `clusters/${encodeURIComponent(cluster)}/switchover`;
  const [options, setOptions] = useState(null);
  const [problem, setProblem] = useState(null);
  const [dryRun, setDryRun] = useState(null);
  /** The seamless switchover that goes on or has ended, begun here or by somebody else. */
  const [run, setRun] = useState(null);
  // Where poolers are configured, holding their clients is what an operator wants.
  const [how, setHow] = useState({ isSeamless: true, isUnguarded: false });
  const follow = useFollow(path);
  useEffect(() => {
    const read = async () => {
      const found = await send("GET", path);
      setOptions(found);
      if (found.running) await follow(found.running, setRun);
    };
    read().catch((reason) => setProblem(reason.message));
  }, [path]);
  const choose = (member, chosen = how) => {
    const wanted = { ...chosen, isSeamless: options.seamless === true && chosen.isSeamless };
    const question = { member, wanted, would: null };
    // An answer about what is no longer chosen is dropped.
    const show = (result) => setDryRun((last) => (last === question ? { ...question, ...result } : last));
    setDryRun(question);
    check(path, bodyOf(options, question), follow).then(show, (reason) =>
      show({ would: "fail", message: reason.message }),
    );
  };
  const change = (changed) => {
    const next = { ...how, ...changed };
    setHow(next);
    if (dryRun !== null) choose(dryRun.member, next);
  };
  const act = async () => {
    const answer = await send("POST", path, bodyOf(options, dryRun));
    if (!dryRun.wanted.isSeamless) return answer.message ?? "The node accepted the switchover.";
    return (await follow(answer.run, setRun))?.text ?? "";
  };
  return html`<${ActionDialog}
    title=${`Switch over ${cluster}`}
    verb="Switch over"
    cluster=${cluster}
    isReady=${dryRun?.would === "pass"}
    act=${act}
    going=${run === null ? null : { report: html`<${RunSteps} run=${run} />`, outcome: run.text }}
    problem=${problem}
    onClose=${onClose}
  >
    ${
      options === null
        ? html`<p class="note">Reading who may take over.</p>`
        : html`<${Candidates} options=${options} chosen=${dryRun?.member} onChoose=${(member) => choose(member)} />`
    }
    ${options?.seamless === true ? html`<${SeamlessChoice} how=${how} onChange=${change} />` : null}
    ${dryRun === null ? null : html`<${DryRun} result=${dryRun} leader=${options.leader} />`}
  <//>`;
}

/** The body of the call for a switchover. */
function bodyOf({ leader }, { member, wanted: { isSeamless: seamless, isUnguarded: unguarded } }) {
  return seamless ? { seamless, unguarded, leader, candidate: member } : { leader, candidate: member };
}

/** Makes a dry run. @returns what it found; of a seamless one each line */
async function check(path, body, follow) {
  const answer = await send("POST", `${path}?dry_run=1`, body);
  if (!body.seamless) return answer;
  const checked = await follow(answer.run, () => {});
  return checked?.outcome.kind === "dry_run"
    ? { would: "pass", checked }
    : { would: "fail", checked, message: checked?.text ?? "" };
}

/** Whether clients of the poolers are held meanwhile, and whether that is allowed without a peer. */
function SeamlessChoice({ how: { isSeamless, isUnguarded }, onChange }) {
  return html`<label class="check">
      <input
        type="checkbox"
        name="seamless"
        checked=${isSeamless}
        onChange=${({ target }) => onChange({ isSeamless: target.checked })}
      />
      <span>Seamless <small>clients of the poolers wait, and no transaction fails</small></span>
    </label>
    ${
      isSeamless
        ? html`<label class="check">
            <input
              type="checkbox"
              name="unguarded"
              checked=${isUnguarded}
              onChange=${({ target }) => onChange({ isUnguarded: target.checked })}
            />
            <span
              >Also without a peer
              <small>if this machine dies meanwhile, clients wait until rolecall runs again</small></span
            >
          </label>`
        : null
    }`;
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
function DryRun({ result: { member, would, node, message, checked }, leader }) {
  if (would === null) return html`<p class="note" role="status">Dry run: nothing is changed.</p>`;
  if (checked)
    return html`<${PreflightLines} run=${checked} />
      <p class=${`preview ${would === "pass" ? "ok" : "bad"}`} role="status">
        <${Mark} tone=${would === "pass" ? "ok" : "bad"} />${
          would === "pass" ? `Dry run passed: ${leader} may hand over to ${member}.` : message
        }
      </p>`;
  if (would === "pass")
    return html`<p class="preview ok" role="status">
      <${Mark} tone="ok" />Dry run passed: the call would go to ${node}. Writes stop for some seconds while${" "}
      ${leader} hands over to ${member}.
    </p>`;
  return html`<p class="preview bad" role="status"><${Mark} tone="bad" />Dry run failed: ${message}</p>`;
}
