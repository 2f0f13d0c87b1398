import { html } from "../html.js";
import { durationText } from "../parts/format.js";
import { CodeText } from "../parts/marks.js";

/** What the audit found: what differs, since when, what should have ended it, and what does now. */
export function Finding({ finding }) {
  return html`<p class="note">
    <span class="issue"
      ><b>${subjectOf(finding)}</b> <${CodeText} text=${finding.what} /> for ${durationText(finding.for_ms)}.</span
    >
    ${blameOf(finding)}. <code>${finding.command}</code>
  </p>`;
}

/** What should have ended a finding, as a sentence without its full stop. */
function blameOf({ finding, mechanism }) {
  const clause =
    finding === "unreachable"
      ? `look at ${mechanism}`
      : `${mechanism} should have ${finding === "missing" ? "mended" : "moved"} it`;
  return clause.charAt(0).toUpperCase() + clause.slice(1);
}

function subjectOf({ target, backend, server }) {
  return [target, [backend, server].filter((part) => part !== null).join("/")].join(" ");
}
