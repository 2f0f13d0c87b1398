import { html, useState } from "../html.js";
import { signIn, useSession } from "../live/session.js";
import { DrainDialog, UndrainDialog } from "./drain.js";
import { SwitchoverDialog } from "./switchover.js";

/** Says who is signed in, or lets somebody sign in; nothing where the listener lets nobody change anything. */
function SignIn() {
  const { principal, may } = useSession();
  const [error, setError] = useState(null);
  if (!may.drain && !may.switchover) return null;
  if (principal !== null) return html`<span class="note">Signed in as <b>${principal}</b></span>`;
  const onClick = () =>
    signIn().then(
      () => setError(null),
      (reason) => setError(reason.message),
    );
  return html`<button type="button" class="chip" onClick=${onClick}>Sign in to make changes</button>
    ${error === null ? null : html`<span class="note" role="alert">${error}</span>`}`;
}

/** The changes of a whole cluster. */
export function ClusterActions({ cluster }) {
  const { principal, may } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  return html`<${SignIn} /> ${
      principal !== null && may.switchover
        ? html`<button type="button" class="chip" onClick=${() => setIsOpen(true)}>Switch over</button>`
        : null
    }
    ${isOpen ? html`<${SwitchoverDialog} cluster=${cluster.cluster} onClose=${() => setIsOpen(false)} />` : null}`;
}

/** The changes of one node. */
export function NodeActions({ cluster, node }) {
  const { principal, may } = useSession();
  // The dialog stays about the node as it was when it was opened.
  const [opened, setOpened] = useState(null);
  if (principal === null || !may.drain) return null;
  const Dialog = opened?.drain === null ? DrainDialog : UndrainDialog;
  const verb = node.drain === null ? "Drain" : "End the drain";
  return html`<button
      type="button"
      class="chip act"
      aria-label=${`${verb} ${node.node}`}
      onClick=${() => setOpened(node)}
    >
      ${verb}
    </button>
    ${opened === null ? null : html`<${Dialog} cluster=${cluster} node=${opened} onClose=${() => setOpened(null)} />`}`;
}
