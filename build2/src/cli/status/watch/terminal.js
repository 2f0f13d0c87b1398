import { emitKeypressEvents } from "node:readline";
/** Opens the alternate screen, so that the terminal is as it was when the command ends. Hides the cursor. */
const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";
/**
 * Takes the terminal. In raw mode it passes each key on at once, and Ctrl-C is an ordinary key.
 * @param ended restores the terminal when it is aborted: on a signal, and when the process ends by an error
 */
export function openFullScreen({ stdin, stdout }, ended, { onKey, onResize }) {
    const onKeypress = (text, key) => onKey({ text: text ?? "", name: key.name ?? "", isCtrl: key.ctrl === true });
    const setRawMode = rawModeOf(stdin);
    let before = "";
    let isOpen = true;
    const stopResizes = stdout.onResize(() => {
        before = "";
        onResize();
    });
    const close = () => {
        if (!isOpen)
            return;
        isOpen = false;
        ended.removeEventListener("abort", close);
        stopResizes();
        stdin.off("keypress", onKeypress);
        setRawMode(false);
        stdin.pause();
        void stdout.write(leave);
    };
    ended.addEventListener("abort", close, { once: true });
    emitKeypressEvents(stdin);
    stdin.on("keypress", onKeypress);
    setRawMode(true);
    stdin.resume();
    void stdout.write(enter);
    const show = async (lines) => {
        const picture = `\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`;
        if (!isOpen || picture === before)
            return;
        before = picture;
        await stdout.write(picture);
    };
    return { show, close };
}
function rawModeOf(stdin) {
    return "setRawMode" in stdin && typeof stdin.setRawMode === "function" && stdin.isTTY === true
        ? stdin.setRawMode.bind(stdin)
        : () => { };
}
//# sourceMappingURL=terminal.js.map