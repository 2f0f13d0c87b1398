import { html, useState } from "../html.js";
import { useStore } from "../live/hooks.js";
import { compareNames } from "../parts/condition.js";
import { EventList } from "./event-list.js";

const severities = ["info", "warning", "error"];
const spans = ["15min", "1h", "6h", "24h", "7d"];

/** The events of all clusters, with filters. New ones appear as they happen. */
export function EventsView() {
  const store = useStore();
  const [filter, setFilter] = useState({ cluster: "", severity: "info", since: "24h", text: "" });
  const set = (name) => (event) => setFilter((last) => ({ ...last, [name]: event.target.value }));
  const clusters = [...store.rows.keys()].sort(compareNames);
  const { cluster, severity, since, text } = filter;
  const query = new URLSearchParams({ severity, since, limit: "500", ...(cluster === "" ? {} : { cluster }) });
  const isWanted = (event) =>
    (cluster === "" || event.cluster === null || event.cluster === cluster) &&
    severities.indexOf(event.severity) >= severities.indexOf(severity);
  return html`
    <div class="toolbar"><h1>Events</h1></div>
    <form class="filters" aria-label="Filter events" onSubmit=${(event) => event.preventDefault()}>
      <label
        >Cluster
        <select value=${cluster} onChange=${set("cluster")}>
          <option value="">all</option>
          ${clusters.map((name) => html`<option value=${name} selected=${name === cluster}>${name}</option>`)}
        </select></label
      >
      <label
        >At least
        <select value=${severity} onChange=${set("severity")}>
          ${severities.map((name) => html`<option value=${name} selected=${name === severity}>${name}</option>`)}
        </select></label
      >
      <label
        >Within
        <select value=${since} onChange=${set("since")}>
          ${spans.map((name) => html`<option value=${name} selected=${name === since}>${name}</option>`)}
        </select></label
      >
      <label>Text <input type="search" value=${text} onInput=${set("text")} /></label>
    </form>
    <${Found} query=${query.toString()} store=${store} isWanted=${isWanted} text=${text.toLowerCase()} />
  `;
}

function Found({ query, store, isWanted, text }) {
  const matches = (event) => `${event.kind} ${event.message}`.replaceAll("_", " ").toLowerCase().includes(text);
  return html`<${EventList} query=${query} store=${store} isWanted=${isWanted} matches=${matches} showsCluster />`;
}
