/** What one place in the worker pool holds, as one state machine. Its table is test/spec/workers/slot.yaml. */
export type SlotState<Worker> =
  | { readonly phase: "empty" }
  /** `starting`: its worker does not answer like the others yet, or not any more. */
  | { readonly phase: "starting" | "ready"; readonly worker: Worker }
  /** As `starting`, and fewer workers are wanted: it may have connections, so it is retired once it can be. */
  | { readonly phase: "unwanted"; readonly worker: Worker }
  /** Its worker takes no new connection, and ends when the open ones have ended. */
  | { readonly phase: "retiring"; readonly worker: Worker }
  /** Final. Its last worker may still be closing. */
  | { readonly phase: "stopped"; readonly worker: Worker | null };

/** What happens to a slot. */
export type SlotEvent<Worker> =
  | { readonly kind: "spawned"; readonly worker: Worker }
  /** Its worker answers like the others. */
  | { readonly kind: "up" }
  /** Its worker missed a change, or does not reply. */
  | { readonly kind: "behind" }
  | { readonly kind: "exited" }
  /** Fewer workers are wanted. */
  | { readonly kind: "retire" }
  | { readonly kind: "stop" };

/** What follows from an event. */
export type SlotAction =
  | "none"
  /** Start a successor. */
  | "respawn"
  /** Let its worker finish with its connections. */
  | "retire"
  | "close"
  /** Its worker has ended after it was retired. */
  | "left";

/** The state and the action that follow an event. */
export interface SlotStep<Worker> {
  readonly state: SlotState<Worker>;
  readonly action: SlotAction;
}

/** The next step of a slot. An event that cannot happen in a state changes nothing. */
export function nextSlot<Worker>(state: SlotState<Worker>, event: SlotEvent<Worker>): SlotStep<Worker> {
  const none: SlotStep<Worker> = { state, action: "none" };
  if (state.phase === "stopped")
    return event.kind === "exited" ? { state: { phase: "stopped", worker: null }, action: "none" } : none;
  if (event.kind === "stop") return stopped(state);
  const left: SlotStep<Worker> = { state: { phase: "stopped", worker: null }, action: "left" };
  if (state.phase === "retiring") return event.kind === "exited" ? left : none;
  if (state.phase === "empty") {
    if (event.kind === "retire") return stopped(state);
    return event.kind === "spawned" ? { state: { phase: "starting", worker: event.worker }, action: "none" } : none;
  }
  const { phase, worker } = state;
  switch (event.kind) {
    case "up":
      return phase === "unwanted" ? retiring(worker) : { state: { phase: "ready", worker }, action: "none" };
    case "behind":
      return phase === "unwanted" ? none : { state: { phase: "starting", worker }, action: "none" };
    case "exited":
      return phase === "unwanted" ? left : { state: { phase: "empty" }, action: "respawn" };
    case "retire":
      return phase === "ready" ? retiring(worker) : { state: { phase: "unwanted", worker }, action: "none" };
    case "spawned":
      return none;
  }
}

function retiring<Worker>(worker: Worker): SlotStep<Worker> {
  return { state: { phase: "retiring", worker }, action: "retire" };
}

function stopped<Worker>(state: SlotState<Worker>): SlotStep<Worker> {
  const worker = state.phase === "empty" ? null : state.worker;
  return { state: { phase: "stopped", worker }, action: "close" };
}
