import { html, useEffect, useRef, useState } from "../html.js";

/**
 * A dialog that changes something only after the name of the cluster was typed.
 * @param act sends the change; its result is a sentence
 * @param report what is shown of the change while it is made, and afterwards
 */
export function ActionDialog({ title, verb, cluster, isReady = true, act, onClose, report = null, children }) {
  const dialog = useRef(null);
  const [typed, setTyped] = useState("");
  const [state, setState] = useState({ isBusy: false, done: null, error: null });
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const isConfirmed = typed === cluster;
  const submit = async (event) => {
    event.preventDefault();
    if (!isConfirmed || !isReady || state.isBusy) return;
    setState({ isBusy: true, done: null, error: null });
    try {
      setState({ isBusy: false, done: await act(), error: null });
    } catch (error) {
      setState({ isBusy: false, done: null, error: error.message });
    }
  };
  return html`<dialog ref=${dialog} class="action" aria-labelledby="action-title" onClose=${onClose}>
    <form onSubmit=${submit}>
      <h2 id="action-title">${title}</h2>
      ${state.done === null ? children : null} ${report}
      ${
        state.done === null
          ? html`<label class="confirm"
              ><span>Type <b>${cluster}</b> to confirm</span>
              <input
                name="confirm"
                autocomplete="off"
                spellcheck=${false}
                value=${typed}
                onInput=${(event) => setTyped(event.target.value)}
            /></label>`
          : html`<p class="done" role="status">${state.done}</p>`
      }
      ${state.error === null ? null : html`<p class="banner bad" role="alert">${state.error}</p>`}
      <p class="buttons">
        <button type="button" class="chip" onClick=${() => dialog.current?.close()}>
          ${state.done === null ? "Cancel" : "Close"}
        </button>
        ${
          state.done === null
            ? html`<button type="submit" class="danger" disabled=${!isConfirmed || !isReady || state.isBusy}>
                ${state.isBusy ? "Sending" : verb}
              </button>`
            : null
        }
      </p>
    </form>
  </dialog>`;
}
