import { html, useEffect, useRef, useState } from "../html.js";
import { send } from "../live/session.js";
import { durationText } from "../parts/format.js";
import { Mark } from "../parts/marks.js";

/** How often a run is read that goes on, in ms. */
const followMs = 250;

const tones = { ok: "ok", warning: "warn", error: "bad" };

/** What each step means for clients. */
const stepTexts = {
  checked: "Checked: nothing speaks against it",
  armed: "What will be paused is written down, and whoever resumes it is ready",
  paused: "Clients wait",
  requested: "The cluster is asked to switch over",
  accepted: "The node accepted the request",
  writable: "Takes writes",
  routed: "The routes lead there",
  resuming: "Clients may go on",
  resumed: "Nothing is paused any more",
};

/**
 * The seamless switchover of a cluster that this page follows.
 * @param path `clusters/NAME/switchover`
 * @returns the run as far as it is known, and `follow(run)`, which resolves with it when it has ended
 */
export function useRun(path) {
  const [run, setRun] = useState(null);
  const isGone = useRef(false);
  const follow = async (name) => {
    while (!isGone.current) {
      const found = await send("GET", `${path}/run`);
      if (name !== undefined && found.run !== name) throw new Error("Another switchover has begun meanwhile");
      if (isGone.current) break;
      setRun(found);
      if (found.state === "ended") return found;
      await new Promise((resolve) => setTimeout(resolve, followMs));
    }
    return null;
  };
  useEffect(
    () => () => {
      isGone.current = true;
    },
    [],
  );
  return { run, follow };
}

/** Each line of the checks before a switchover. */
export function PreflightLines({ run: { preflight, forecast_ms: forecastMs } }) {
  return html`<ul class="preflight">
      ${preflight.map(
        ({ level, subject, text, hint }) =>
          html`<li key=${`${subject} ${text}`}>
            <${Mark} tone=${tones[level] ?? "idle"} /><span
              ><b>${subject}</b>${" "}${text} ${hint === null ? null : html`<small>${hint}</small>`}</span
            >
          </li>`,
      )}
    </ul>
    ${forecastMs === null ? null : html`<p>Clients will wait about ${secondsText(forecastMs)}.</p>`}`;
}

/** The steps of a run as they happen, how long clients have waited, and the time that is left. */
export function RunSteps({ run: { steps, targets, state, deadline_in_ms: leftMs } }) {
  const isOver = state === "ended";
  return html`<ol class="steps" aria-live="polite">
      ${steps.map(
        ({ step, text, after_ms: afterMs }, at) =>
          html`<li key=${at}><time>${secondsText(afterMs)}</time> ${stepText(step, text)}</li>`,
      )}
    </ol>
    ${targets.map(({ pooler, database, held_ms: heldMs }) =>
      heldMs === null
        ? null
        : html`<p key=${`${pooler}/${database}`}>
            ${pooler}/${database}: clients ${isOver ? "waited" : "have waited"} ${secondsText(heldMs)}
          </p>`,
    )}
    ${leftMs === null || isOver ? null : html`<p class="note">Everything is resumed within ${durationText(leftMs)}.</p>`}`;
}

function stepText(step, text) {
  if (step === "writable") return `${text} takes writes`;
  const known = stepTexts[step];
  if (known === undefined) return text ?? step;
  return text === null ? known : `${known}: ${text}`;
}

/** A time in seconds with one digit: steps take tenths of a second. */
function secondsText(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
