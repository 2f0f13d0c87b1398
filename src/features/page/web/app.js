import { html, render, useEffect, useLayoutEffect, useRef } from "./html.js";
import { linkTo, useRoute, useStore, useTicks } from "./live/hooks.js";
import { store as liveStore } from "./live/live-store.js";
import { streamOf } from "./live/reading.js";
import { countText, durationText, dateText } from "./parts/format.js";
import { conditionOf, isProblem } from "./parts/condition.js";
import { CodeText } from "./parts/marks.js";
import { keepFocus } from "./parts/kept-focus.js";
import { lazyView } from "./parts/lazy-view.js";
import { isServed, openServed } from "./past/past.js";
import { FileDrop, OpenFile } from "./past/open-file.js";
import { PastBar } from "./past/past-bar.js";
import { startWorker } from "./past/replay-worker.js";
import { shapeOf } from "./parts/route.js";
import { FleetView } from "./views/fleet.js";
import { NotFound } from "./views/not-found.js";

// A browser shows the fleet sooner if it need not load every view first.
const ClusterView = lazyView(() => import("./views/cluster.js"), "ClusterView");
const EdgesView = lazyView(() => import("./views/edges.js"), "EdgesView");
const EventsView = lazyView(() => import("./views/events.js"), "EventsView");
const NodeView = lazyView(() => import("./views/node.js"), "NodeView");
const ReasonsView = lazyView(() => import("./views/reasons.js"), "ReasonsView");

/** Returns the view of a route, its title and the cluster that it follows in full (null: all as rows). */
function viewOf(route) {
  const [first, second, , fourth] = route;
  const path = route.join("/");
  const plain = (title, view) => ({ key: first, title, only: null, view: html`<${view} />` });
  switch (shapeOf(route)) {
    case "fleet":
      return { ...plain("Fleet", FleetView), key: "fleet" };
    case "events":
      return plain("Events", EventsView);
    case "edges":
      return plain("Edges", EdgesView);
    case "reasons":
      return { ...plain("Reasons"), view: html`<${ReasonsView} reason=${second ?? null} />` };
    case "cluster":
      return { key: `cluster/${second}`, title: second, only: second, view: html`<${ClusterView} name=${second} />` };
    case "node":
      return {
        key: `node/${second}/${fourth}`,
        title: fourth,
        only: second,
        view: html`<${NodeView} cluster=${second} node=${fourth} />`,
      };
    default:
      return {
        key: path,
        title: "Not found",
        only: null,
        view: html`<${NotFound} title="Not found" what=${`There is no view at #/${path}`} />`,
      };
  }
}

function App() {
  const route = useRoute();
  const { key, title, only, view } = viewOf(route);
  const main = useRef(null);
  const isFirst = useRef(true);
  const store = useStore();
  const { isPast } = store;
  const isLost = store.state === "lost";
  // A tab in the background, which gives its stream back, does not know either.
  const isUnknown = streamOf(store).kind !== "known";
  const troubled = troubledOf(store, only);
  // Nothing is requested while the past is shown.
  useEffect(() => (isPast || isServed ? liveStore.stop() : liveStore.follow(only)), [only, isPast]);
  useEffect(() => {
    document.title = `${isUnknown ? "(?) " : troubled > 0 ? `(${troubled}) ` : ""}${title === "Fleet" ? "" : `${title} · `}rolecall`;
  }, [title, troubled, isUnknown]);
  // At once: the first key pressed in the new view begins there too.
  useLayoutEffect(() => {
    // A reader of the screen begins at the new view. The first view is where it begins anyway.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [key]);
  const current = ["edges", "events", "reasons"].find((name) => name === route[0]) ?? "fleet";
  return html`
    <a
      class="skip"
      href="#main"
      onClick=${(event) => {
        event.preventDefault();
        main.current?.focus();
      }}
      >Skip to content</a
    >
    <header class="bar">
      <a class="brand" href=${linkTo()}><img src="page/icon.svg" alt="" width="24" height="24" />rolecall</a>
      <nav aria-label="Views">
        <a href=${linkTo()} aria-current=${current === "fleet" ? "page" : null}>Fleet</a>
        <a href=${linkTo("events")} aria-current=${current === "events" ? "page" : null}>Events</a>
        <a href=${linkTo("edges")} aria-current=${current === "edges" ? "page" : null}>Edges</a>
        <a href=${linkTo("reasons")} aria-current=${current === "reasons" ? "page" : null}>Reasons</a>
      </nav>
      <${OpenFile} />
      <${ConnectionState} />
    </header>
    <${LostBanner} />
    <${RefusedBanner} />
    <${PastBar} route=${route} />
    <${FileDrop} />
    <main id="main" class=${isLost ? "lost" : null} tabindex="-1" ref=${main} key=${key}>${view}</main>
  `;
}

/** How many clusters are in trouble, of those that the view follows. */
function troubledOf({ isPast, rows, followed }, only) {
  if (isPast) return 0;
  const known =
    only === null ? [...rows.values()].map(({ row }) => row) : followed === null ? [] : [followed.cluster.situation];
  return known.filter((each) => isProblem(conditionOf(each).tone)).length;
}

const stateWords = {
  connecting: "Connecting",
  live: "Live",
  lost: "Connection lost",
  absent: "Not found",
  paused: "Paused",
  past: "Past",
};

function ConnectionState() {
  const { state } = useStore();
  return html`<p class=${`connection ${state}`} role="status">
    <span class="dot" aria-hidden="true"></span>${stateWords[state]}
  </p>`;
}

/** What is shown while nothing arrives: the data stays, and its ages go on counting. */
function LostBanner() {
  const { state, receivedMs, reason } = useStore();
  useTicks(1_000);
  if (state !== "lost") return null;
  return html`<p class="banner bad" role="alert">
    <strong>Connection to rolecall lost.</strong> ${" "} ${reason === "" ? null : html`<span>${reason}</span>${" "}`}
    <span aria-live="off"
      >Nothing arrived for ${durationText(performance.now() - receivedMs)}. What you see is old and gets older. Trying
      again.</span
    >
  </p>`;
}

/** What is shown until a reload is applied: the file of the configuration is not what runs. */
function RefusedBanner() {
  const { isPast, config } = useStore();
  if (isPast || !config?.refused) return null;
  const { file, loaded_at: loadedAt, refused } = config;
  return html`<p class="banner bad" role="alert">
    <strong>The reload was refused.</strong> rolecall runs the configuration of ${dateText(loadedAt)}.${" "}
    ${file ?? "The one on its command line"} has ${countText(refused.problems, "problem")}:
    <${CodeText}
      text=${refused.first}
    />${file === null ? null : html`. Run <code>rolecall doctor ${file} --offline</code>`}
  </p>`;
}

if (isServed) void openServed();
// What is not shown yet is loaded when nothing else waits for it: later there may be no connection.
setTimeout(() => {
  for (const view of [ClusterView, EdgesView, EventsView, NodeView, ReasonsView]) view.load().catch(() => {});
  startWorker();
}, 1_500);
// In a task of its own: the browser evaluates all modules in one task, which is long enough.
setTimeout(() => {
  const root = document.getElementById("app");
  root.replaceChildren();
  render(html`<${App} />`, root);
  keepFocus(root);
});
