import { html, useEffect, useRef } from "../html.js";
import { readWithin } from "../live/session.js";
import { durationText } from "../parts/format.js";
import { Mark } from "../parts/marks.js";

/** How often a run is read that goes on, in ms. */
const followMs = 250;
/** How long an answer about it may take, in ms. */
const readMs = 2_000;
/** For how long the server may be silent after everything should be resumed, in ms. */
const silenceMs = 5_000;
const lostText = "The end of the switchover is not known: rolecall does not answer. Look at status and doctor.";

const tones = { ok: "ok", warning: "warn", error: "bad" };

/** What each step means for clients. */
const stepTexts = {
  checked: "Checked: nothing speaks against it",
  armed: "What will be paused is on the disk, and everything that can resume it is ready",
  paused: "Clients wait",
  requested: "The cluster is asked to switch over",
  accepted: "The node accepted the request",
  writable: "Takes writes",
  routed: "The routes lead there",
  resuming: "Clients may go on",
  resumed: "Nothing is paused any more",
};

/**
 * Follows a run until it has ended. A request that fails changes nothing: the run goes on at the server.
 * @param read reads the run once
 * @param onRun takes what was read
 * @param isOver whether nobody is interested any more
 * @param wait ends when it is time to read again
 * @param now in ms
 * @returns the run at its end; `null` if nobody is interested any more
 * @throws Error if the server does not know the run, or has not answered until everything should be resumed
 */
export async function followRun({ read, onRun, isOver, wait, now }) {
  let lostAtMs = now() + silenceMs;
  for (;;) {
    const found = await read().catch((error) => {
      if (error.status < 500 && error.status !== 429) throw error;
      if (now() > lostAtMs) throw new Error(`${lostText} ${error.message}`);
      return null;
    });
    if (isOver()) return null;
    if (found !== null) {
      lostAtMs = now() + (found.deadline_in_ms ?? 0) + silenceMs;
      onRun(found);
      if (found.state === "ended") return found;
    }
    await wait();
  }
}

/**
 * The switchovers of a cluster that this page follows, one at a time.
 * @param path `clusters/NAME/switchover`
 * @returns `follow(run, onRun)`, as {@link followRun}. It ends the one before
 */
export function useFollow(path) {
  const followed = useRef(0);
  useEffect(
    () => () => {
      followed.current += 1;
    },
    [],
  );
  return (run, onRun) => {
    followed.current += 1;
    const own = followed.current;
    return followRun({
      read: () => readWithin(readMs, `${path}/run?run=${encodeURIComponent(run)}`),
      onRun,
      isOver: () => followed.current !== own,
      wait: () => new Promise((resolve) => setTimeout(resolve, followMs)),
      now: () => performance.now(),
    });
  };
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
