/** Ends a timer: its function is not called any more. */
export type CancelTimer = () => void;

/** Calls a function once, after a delay in ms. A type only: pure folders set no timers. */
export type SetTimer = (callback: () => void, delayMs: number) => CancelTimer;
