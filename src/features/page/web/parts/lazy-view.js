import { html, useEffect, useState } from "../html.js";

/**
 * A view whose module is loaded when it is first shown, or by `load()` before that.
 * @param importModule imports the module
 * @param name the name of the component that the module exports
 */
export function lazyView(importModule, name) {
  let View = null;
  const load = async () => {
    View ??= (await importModule())[name];
  };
  function LazyView(props) {
    const [state, setState] = useState("loading");
    useEffect(() => {
      if (View === null)
        load().then(
          () => setState("loaded"),
          () => setState("failed"),
        );
    }, []);
    if (View !== null) return html`<${View} ...${props} />`;
    return state === "failed"
      ? html`<p class="empty" role="alert">Cannot load this view from rolecall. Reload the page to try again.</p>`
      : html`<h1 class="loading">Loading</h1>`;
  }
  return Object.assign(LazyView, { load });
}
