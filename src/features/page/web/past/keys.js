import { useLayoutEffect } from "../html.js";
import { backToLive } from "./past.js";

/** How far an arrow key moves, in ms; with Shift ten times as far. */
const stepMs = 1_000;

/** Keys of the past: Space plays and pauses, arrows move, Home and End jump, Escape returns to live. */
export function useKeys(store) {
  useLayoutEffect(() => {
    const act = {
      " ": () => (store.isPlaying ? store.pause() : store.play()),
      ArrowLeft: (many) => void store.show(store.atMs - many * stepMs),
      ArrowRight: (many) => void store.show(store.atMs + many * stepMs),
      Home: () => void store.show(store.fromMs),
      End: () => void store.show(store.toMs),
      Escape: backToLive,
    };
    const onKey = (event) => {
      const isUsed = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
      const isPressed = /^(BUTTON|A)$/.test(event.target.tagName) && event.key === " ";
      if ((isUsed && event.key !== "Escape") || isPressed || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!Object.hasOwn(act, event.key)) return;
      event.preventDefault();
      act[event.key](event.shiftKey ? 10 : 1);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [store]);
}
