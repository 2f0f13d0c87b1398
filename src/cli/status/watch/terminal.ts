import { emitKeypressEvents, type Key } from "node:readline";
import type { Io } from "../../../core/command/output/io.ts";
import { safeStyled } from "../../../core/command/output/style.ts";
import type { PressedKey } from "./view.ts";

/** Opens the alternate screen, so that the terminal is as it was when the command ends. Hides the cursor. */
const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";

/** A terminal that one command has for itself. */
export interface FullScreen {
  /** Writes a picture over the one before. */
  readonly show: (lines: readonly string[]) => Promise<void>;
  /** Restores the terminal. Does nothing the second time. */
  readonly close: () => void;
}

/** What the owner of the terminal is to be called for. */
export interface ScreenEvents {
  readonly onKey: (key: PressedKey) => void;
  readonly onResize: () => void;
}

/**
 * Takes the terminal. In raw mode it passes each key on at once, and Ctrl-C is an ordinary key.
 * @param ended restores the terminal when it is aborted: on a signal, and when the process ends by an error
 */
export function openFullScreen(
  { stdin, stdout }: Io,
  ended: AbortSignal,
  { onKey, onResize }: ScreenEvents,
): FullScreen {
  const onKeypress = (text: string | undefined, key: Key): void =>
    onKey({ text: text ?? "", name: key.name ?? "", isCtrl: key.ctrl === true });
  const setRawMode = rawModeOf(stdin);
  let before = "";
  let isOpen = true;
  const stopResizes = stdout.onResize(() => {
    before = "";
    onResize();
  });
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    ended.removeEventListener("abort", close);
    stopResizes();
    stdin.off("keypress", onKeypress);
    setRawMode(false);
    stdin.pause();
    void stdout.draw(leave);
  };
  ended.addEventListener("abort", close, { once: true });
  emitKeypressEvents(stdin);
  stdin.on("keypress", onKeypress);
  setRawMode(true);
  stdin.resume();
  void stdout.draw(enter);
  const show = async (lines: readonly string[]): Promise<void> => {
    const picture = `\u001b[H${lines.map((line) => `${safeStyled(line)}\u001b[K`).join("\r\n")}\u001b[J`;
    if (!isOpen || picture === before) return;
    before = picture;
    await stdout.draw(picture);
  };
  return { show, close };
}

function rawModeOf(stdin: Io["stdin"]): (isRaw: boolean) => void {
  return "setRawMode" in stdin && typeof stdin.setRawMode === "function" && stdin.isTTY === true
    ? stdin.setRawMode.bind(stdin)
    : () => {};
}
