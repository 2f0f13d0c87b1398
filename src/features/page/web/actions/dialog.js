import { html, useEffect, useLayoutEffect, useRef, useState } from "../html.js";

/**
 * A dialog that changes something only after the name of the cluster was typed.
 * @param act sends the change; its result is a sentence
 * @param problem what has failed beside it; `null` if nothing has
 * @param going what goes on, begun here or by somebody else: `report` shows it, `outcome` says how it ended; else `null`
 */
export function ActionDialog({
  title,
  verb,
  cluster,
  isReady = true,
  act,
  onClose,
  going = null,
  problem = null,
  children,
}) {
  const dialog = useRef(null);
  const [typed, setTyped] = useState("");
  const [state, setState] = useState({ isBusy: false, done: null, error: null });
  const done = state.done ?? going?.outcome ?? null;
  const error = state.error ?? problem;
  const isAsked = done === null && going === null;
  // Open before the next key arrives: an input of a closed dialog takes none.
  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    // What had the focus is gone.
    if (!isAsked) dialog.current?.focus();
  }, [isAsked]);
  const isConfirmed = typed === cluster;
  const submit = async (event) => {
    event.preventDefault();
    if (!isConfirmed || !isReady || !isAsked || state.isBusy) return;
    setState({ isBusy: true, done: null, error: null });
    try {
      setState({ isBusy: false, done: await act(), error: null });
    } catch (reason) {
      setState({ isBusy: false, done: null, error: reason.message });
    }
  };
  return html`<dialog ref=${dialog} class="action" tabindex="-1" aria-labelledby="action-title" onClose=${onClose}>
    <form onSubmit=${submit}>
      <h2 id="action-title">${title}</h2>
      ${isAsked ? children : null} ${going?.report ?? null}
      ${isAsked ? html`<${Confirmation} cluster=${cluster} typed=${typed} onType=${setTyped} />` : null}
      ${done === null ? null : html`<p class="done" role="status">${done}</p>`}
      ${error === null ? null : html`<p class="banner bad" role="alert">${error}</p>`}
      <p class="buttons">
        <button type="button" class="chip" onClick=${() => dialog.current?.close()}>
          ${isAsked && !state.isBusy ? "Cancel" : "Close"}
        </button>
        ${
          isAsked
            ? html`<button type="submit" class="danger" disabled=${!isConfirmed || !isReady || state.isBusy}>
                ${state.isBusy ? "Sending" : verb}
              </button>`
            : null
        }
      </p>
    </form>
  </dialog>`;
}

function Confirmation({ cluster, typed, onType }) {
  return html`<label class="confirm"
    ><span>Type <b>${cluster}</b> to confirm</span>
    <input
      name="confirm"
      autocomplete="off"
      spellcheck=${false}
      value=${typed}
      onInput=${(event) => onType(event.target.value)}
  /></label>`;
}
