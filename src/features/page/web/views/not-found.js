import { html } from "../html.js";
import { linkTo } from "../live/hooks.js";

/** That there is no such thing, and the way back. @param what a sentence without its full stop */
export function NotFound({ title, what, children }) {
  return html`<h1>${title}</h1>
    <p class="banner warn" role="alert">${what}. ${children} <a href=${linkTo()}>Overview of all clusters</a></p>`;
}
