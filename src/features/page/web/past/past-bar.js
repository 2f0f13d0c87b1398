import { html, useEffect, useLayoutEffect, useMemo, useState } from "../html.js";
import { useStore } from "../live/hooks.js";
import { dateText } from "../parts/format.js";
import {
  backToLive,
  dismissProblem,
  incidentPath,
  isServed,
  lookBack,
  onProgress,
  progress,
  showInstant,
} from "./past.js";
import { speeds } from "./past-store.js";
import { useKeys } from "./keys.js";
import { mergedMarks } from "./time-marks.js";

/** The bar of the past: ways into it while the page is live, the time line while an incident is shown. */
export function PastBar({ route: [view, cluster, part, at] }) {
  const store = useStore();
  const [, setCount] = useState(0);
  useLayoutEffect(() => onProgress(() => setCount((count) => count + 1)), []);
  const shown = view === "clusters" && cluster !== undefined ? cluster : null;
  const instantMs = shown !== null && part === "at" ? Date.parse(at) : NaN;
  useEffect(() => {
    if (!Number.isNaN(instantMs)) void showInstant(shown, instantMs);
  }, [shown, instantMs]);
  const isElsewhere = store.isPast && !store.isFile && shown !== store.cluster;
  useEffect(() => {
    if (isElsewhere) backToLive();
  }, [isElsewhere]);
  return html`<${Progress} />
    ${store.isPast ? html`<${Player} store=${store} />` : shown === null || store.state === "absent" ? null : html`<${Entry} cluster=${shown} />`}`;
}

function Progress() {
  const { text, problem } = progress;
  if (problem !== null)
    return html`<p class="banner bad past-problem" role="alert">
      <span>${problem}</span>
      <button type="button" class="chip" onClick=${dismissProblem}>Close</button>
    </p>`;
  return text === null ? null : html`<p class="past-progress" role="status">${text} …</p>`;
}

/** What a cluster's view offers while it is live. */
function Entry({ cluster }) {
  return html`<section class="past-entry" aria-label="The past">
    <button type="button" class="chip" onClick=${() => lookBack(cluster, Date.now())}>Look back</button>
    <${SaveLink} cluster=${cluster} atMs=${null} />
  </section>`;
}

/** A link that saves the evidence around an instant; null is the moment at which it is used. */
function SaveLink({ cluster, atMs }) {
  const name = (instantMs) => `${cluster}-${new Date(instantMs).toISOString().replaceAll(/[:.]/g, "-")}.yaml`;
  const point = (event) => {
    const instantMs = atMs ?? Date.now();
    event.currentTarget.href = incidentPath(cluster, instantMs);
    event.currentTarget.download = name(instantMs);
  };
  return html`<a class="chip save" href=${incidentPath(cluster, atMs ?? Date.now())} download onClick=${point}
    >Save as incident</a
  >`;
}

/** The instant that is shown, in milliseconds while an incident is played. */
function instantText(store) {
  const wallMs = store.wallMs();
  const tenths = Math.floor((wallMs % 1_000) / 100);
  return store.isDated
    ? dateText(wallMs).replace(/(:\d\d:\d\d)/, `$1.${tenths}`)
    : `${(store.atMs / 1_000).toFixed(1)} s after its beginning`;
}

function Player({ store }) {
  useKeys(store);
  const [isUnfolded, setIsUnfolded] = useState(false);
  const { cluster, title, why, isFile, isPlaying, speed, window: windowMs } = store;
  const step = (ms) => void store.show(store.atMs + ms);
  const jump = (direction) => {
    const isAhead = ({ atMs }) => (atMs - store.atMs) * direction > 0;
    const next = direction > 0 ? store.marks.find(isAhead) : store.marks.findLast(isAhead);
    if (next !== undefined) void store.show(next.atMs);
  };
  return html`<section class="past-bar" aria-label="The past">
    <p class="past-head">
      <strong role="status">Not live</strong>
      <span class="past-what">${isFile ? title : `${cluster} as it was`}</span>
      <time class="past-time">${instantText(store)}</time>
      ${isFile && why !== "" ? html`<span class="past-why" title=${why}>${why}</span>` : null}
    </p>
    <div class=${`past-controls ${isUnfolded ? "" : "folded"}`}>
      <button
        type="button"
        class="chip play"
        aria-keyshortcuts="Space"
        onClick=${() => (isPlaying ? store.pause() : store.play())}
      >
        ${isPlaying ? "Pause" : "Play"}
      </button>
      <button
        type="button"
        class="chip unfold"
        aria-expanded=${String(isUnfolded)}
        onClick=${() => setIsUnfolded(!isUnfolded)}
      >
        ${isUnfolded ? "Less" : "More"}
      </button>
      <label class="sort"
        >Speed
        <select value=${String(speed)} onChange=${(event) => store.setSpeed(Number(event.target.value))}>
          ${speeds.map((each) => html`<option value=${String(each)} selected=${each === speed}>${each}×</option>`)}
        </select></label
      >
      <button type="button" class="chip" aria-label="Event before" onClick=${() => jump(-1)}>◀ Event</button>
      <button type="button" class="chip" aria-label="Next event" onClick=${() => jump(1)}>Event ▶</button>
      <button type="button" class="chip" aria-label="One second back" onClick=${() => step(-1_000)}>− 1 s</button>
      <button type="button" class="chip" aria-label="One second on" onClick=${() => step(1_000)}>+ 1 s</button>
      ${windowMs === null ? null : html`<${Windows} cluster=${cluster} window=${windowMs} />`}
      ${isFile ? null : html`<${SaveLink} cluster=${cluster} atMs=${store.wallMs()} />`}
      ${
        isServed
          ? null
          : html`<button type="button" class="chip to-live" aria-keyshortcuts="Escape" onClick=${backToLive}>
              ${isFile ? "Close incident" : "Live"}
            </button>`
      }
    </div>
    <${TimeLine} store=${store} />
  </section>`;
}

/** The ten minutes before and after those that are shown. */
function Windows({ cluster, window: { fromMs, toMs, sinceMs } }) {
  const lengthMs = toMs - fromMs;
  const isFirst = Number.isFinite(sinceMs) && fromMs <= sinceMs;
  const isLast = toMs >= Date.now() - 10_000;
  return html`<button
      type="button"
      class="chip"
      disabled=${isFirst}
      onClick=${() => lookBack(cluster, fromMs - lengthMs / 2)}
    >
      10 min earlier
    </button>
    <button type="button" class="chip" disabled=${isLast} onClick=${() => lookBack(cluster, toMs + lengthMs / 2)}>
      10 min later
    </button>`;
}

function TimeLine({ store }) {
  const { fromMs, toMs, atMs } = store;
  const marks = useMemo(() => mergedMarks(store.marks, store), [store]);
  const share = (at) => (toMs === fromMs ? 0 : (100 * (at - fromMs)) / (toMs - fromMs));
  const ends = store.isDated
    ? [dateText(store.wallMs(fromMs)), dateText(store.wallMs(toMs))]
    : [`${fromMs / 1_000} s`, `${toMs / 1_000} s`];
  return html`<div class="time-line">
    <input
      type="range"
      min=${fromMs}
      max=${toMs}
      step="100"
      value=${atMs}
      aria-label="Instant"
      aria-valuetext=${instantText(store)}
      onInput=${(event) => {
        store.pause();
        void store.show(Number(event.target.value));
      }}
    />
    <div class="time-marks" aria-hidden="true">
      ${marks.map(
        ({ atMs: markMs, tone, text }) =>
          html`<span
            key=${markMs}
            class=${`time-mark ${tone}`}
            title=${text}
            style=${{ left: `${share(markMs)}%` }}
          ></span>`,
      )}
    </div>
    <p class="strip-axis"><span>${ends[0]}</span><span>${ends[1]}</span></p>
    ${store.isCut ? html`<p>At most 20,000 events and changes are shown: later ones are left out.</p>` : null}
  </div>`;
}
