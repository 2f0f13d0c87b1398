import { statusOrders } from "../selection/sorting.ts";
import type { StatusSelection } from "../selection/selection.ts";

/** What the user of `--watch` has chosen to see. */
export interface WatchView extends StatusSelection {
  /** The number of lines above the first shown line of the table. */
  readonly offset: number;
  /** Whether keys are characters of the name to search for. */
  readonly isTyping: boolean;
  /** Whether the table stays as it is, without new data. */
  readonly isPaused: boolean;
  readonly isEnded: boolean;
}

/** A key as `node:readline` reports it. */
export interface PressedKey {
  /** The character, if the key has one. */
  readonly text: string;
  /** The name of the key, such as `pageup`. */
  readonly name: string;
  readonly isCtrl: boolean;
}

/** How far the table can be scrolled. */
export interface ScrollRange {
  /** The number of lines of the table on the screen. */
  readonly page: number;
  readonly offsetMax: number;
}

/** The longest name to search for, in characters. */
const queryMax = 128;

/** Returns the view after a key. Keys without a meaning change nothing. */
export function pressKey(view: WatchView, key: PressedKey, range: ScrollRange): WatchView {
  if (key.isCtrl && (key.name === "c" || key.name === "d")) return { ...view, isEnded: true };
  if (view.isTyping) return typeKey(view, key);
  const offset = scrolledTo(view.offset, key, range);
  if (offset !== null) return { ...view, offset: Math.max(0, Math.min(offset, range.offsetMax)) };
  switch (key.text.toLowerCase()) {
    case "q":
      return { ...view, isEnded: true };
    case "s":
      return { ...view, order: nextOrder(view.order), offset: 0 };
    case "p":
      return { ...view, problemsOnly: !view.problemsOnly, offset: 0 };
    case "/":
      return { ...view, isTyping: true };
    case " ":
      return { ...view, isPaused: !view.isPaused };
    default:
      return key.name === "escape" ? { ...view, query: "", offset: 0 } : view;
  }
}

/** The keys while a name is typed: Enter keeps it, Esc discards it. The table follows each character. */
function typeKey(view: WatchView, { name, text, isCtrl }: PressedKey): WatchView {
  if (name === "return" || name === "enter") return { ...view, isTyping: false };
  if (name === "escape") return { ...view, isTyping: false, query: "", offset: 0 };
  if (name === "backspace") return { ...view, query: Array.from(view.query).slice(0, -1).join(""), offset: 0 };
  const isCharacter = !isCtrl && /^[^\p{C}\p{Zl}\p{Zp}]$/u.test(text) && view.query.length < queryMax;
  return isCharacter ? { ...view, query: view.query + text, offset: 0 } : view;
}

function scrolledTo(offset: number, { name, text }: PressedKey, { page, offsetMax }: ScrollRange): number | null {
  switch (name) {
    case "up":
      return offset - 1;
    case "down":
      return offset + 1;
    case "pageup":
      return offset - page;
    case "pagedown":
      return offset + page;
    case "home":
      return 0;
    case "end":
      return offsetMax;
    default:
      return text === "k" ? offset - 1 : text === "j" ? offset + 1 : text === "g" ? 0 : text === "G" ? offsetMax : null;
  }
}

function nextOrder(order: StatusSelection["order"]): StatusSelection["order"] {
  return statusOrders[(statusOrders.indexOf(order) + 1) % statusOrders.length] ?? "problem";
}
