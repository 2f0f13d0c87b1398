/** The life of a serving process, as one state machine (docs/operations.md, "Signals and exit codes"). */

/** Where a process is in its life. */
export type Life =
  /** It probes for the first time. A reload that is requested meanwhile follows the start. */
  | { readonly kind: "starting"; readonly wantsReload: boolean }
  | { readonly kind: "serving" }
  /** It serves, and a reload runs. A further one, requested meanwhile, follows it. */
  | { readonly kind: "reloading"; readonly wantsReload: boolean }
  /** It answers on, so that balancers see that it will end. */
  | { readonly kind: "draining" }
  /** It finishes the answers in flight, and writes what must be kept. */
  | { readonly kind: "closing" }
  | { readonly kind: "stopped" };

/**
 * What happens to a process. A worker that hangs, or a port in use, fails the start or the reload that waits for it.
 */
export type LifeEvent =
  | "started"
  | "start_failed"
  | "reload_requested"
  /** New listeners are open. They are not in force yet: nothing has changed. */
  | "prepared"
  | "applied"
  | "reload_failed"
  /** SIGTERM. */
  | "drain_requested"
  /** SIGINT. */
  | "end_requested"
  | "drained"
  | "closed";

/** What the process has to do because of an event. */
export type LifeAction =
  | "none"
  /** Load the configuration and apply it. */
  | "load"
  /** Reload when what runs has ended. */
  | "queue"
  | "refuse"
  /** Put in force what was prepared. */
  | "commit"
  /** Close what was prepared. */
  | "abandon"
  | "drain"
  | "close"
  /** End without waiting for anything. */
  | "exit";

/** The state and the action that follow an event. */
export interface LifeStep {
  readonly life: Life;
  readonly action: LifeAction;
}

/** Every life begins so. */
export const newLife: Life = { kind: "starting", wantsReload: false };

/**
 * The next step of a life. From `draining` on nothing leads back: whatever a start or a reload still reports, what it
 * prepared is abandoned. A second request to end does not wait for anything.
 */
export function nextStep(life: Life, event: LifeEvent): LifeStep {
  switch (life.kind) {
    case "starting":
      if (event === "started") return afterWork(life.wantsReload);
      if (event === "start_failed") return step("closing", "close");
      // No check was answered yet, so there is nothing to drain.
      if (event === "drain_requested") return step("closing", "close");
      return whileRunning(life, event);
    case "serving":
      return event === "reload_requested" ? reloading : whileRunning(life, event);
    case "reloading":
      if (event === "applied" || event === "reload_failed") return afterWork(life.wantsReload);
      return whileRunning(life, event);
    case "draining":
      if (event === "drained") return step("closing", "close");
      return whileEnding(life, event);
    case "closing":
      if (event === "closed") return step("stopped", "none");
      return whileEnding(life, event);
    case "stopped":
      return { life, action: refusalOf(event) };
  }
}

const reloading: LifeStep = { life: { kind: "reloading", wantsReload: false }, action: "load" };

/** A start or a reload has ended. */
function afterWork(wantsReload: boolean): LifeStep {
  return wantsReload ? reloading : step("serving", "none");
}

function whileRunning(life: Life, event: LifeEvent): LifeStep {
  if (event === "reload_requested")
    return "wantsReload" in life ? { life: { ...life, wantsReload: true }, action: "queue" } : reloading;
  if (event === "drain_requested") return step("draining", "drain");
  if (event === "end_requested") return step("closing", "close");
  return { life, action: event === "prepared" ? "commit" : "none" };
}

function whileEnding(life: Life, event: LifeEvent): LifeStep {
  if (event === "drain_requested" || event === "end_requested") return step("stopped", "exit");
  return { life, action: refusalOf(event) };
}

/** What a process that ends does about work that goes on. */
function refusalOf(event: LifeEvent): LifeAction {
  if (event === "prepared") return "abandon";
  return event === "reload_requested" ? "refuse" : "none";
}

function step(kind: "serving" | "draining" | "closing" | "stopped", action: LifeAction): LifeStep {
  return { life: { kind }, action };
}
