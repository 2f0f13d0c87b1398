/**
 * Preact with tagged templates in place of JSX, so that the page needs no compiler.
 *
 * What listens uses `useLayoutEffect`: `useEffect` begins up to 100 ms after what is drawn, and what happens before is lost.
 */
import { h } from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export { Fragment, render } from "./vendor/preact.js";
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.js";

/** Values in a template are text or attributes, never markup: names of nodes and clusters may come from anywhere. */
export const html = htm.bind(h);
