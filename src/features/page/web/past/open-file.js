import { html, useLayoutEffect, useRef, useState } from "../html.js";
import { openFile } from "./past.js";

/** A button that chooses an incident file. */
export function OpenFile() {
  const input = useRef(null);
  return html`<button type="button" class="bar-button" onClick=${() => input.current?.click()}>Open incident</button>
    <input
      ref=${input}
      type="file"
      accept=".yaml,.yml,.txt"
      class="file-input"
      tabindex="-1"
      aria-label="Incident file"
      onChange=${(event) => {
        const [file] = event.target.files;
        event.target.value = "";
        if (file !== undefined) void openFile(file);
      }}
    />`;
}

/** Takes an incident file that is dropped anywhere on the page. */
export function FileDrop() {
  const [isOver, setIsOver] = useState(false);
  useLayoutEffect(() => {
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files") === true;
    const onOver = (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setIsOver(true);
    };
    const onLeave = (event) => event.relatedTarget === null && setIsOver(false);
    const onDrop = (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setIsOver(false);
      const [file] = event.dataTransfer.files;
      if (file !== undefined) void openFile(file);
    };
    const handlers = { dragenter: onOver, dragover: onOver, dragleave: onLeave, drop: onDrop };
    for (const [name, handler] of Object.entries(handlers)) addEventListener(name, handler);
    return () => {
      for (const [name, handler] of Object.entries(handlers)) removeEventListener(name, handler);
    };
  }, []);
  return isOver ? html`<p class="drop-here" aria-hidden="true">Drop an incident file to open it</p>` : null;
}
