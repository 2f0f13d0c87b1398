/** What makes two elements the same for a user of the keyboard, besides the kind of element. */
function nameOf(element) {
  return element.getAttribute("href") ?? element.getAttribute("aria-label") ?? element.name ?? element.textContent;
}

/**
 * Keeps the focus where it is when a list is drawn in another order: a browser takes it away from an element that is
 * moved. If a node is drawn at another place, its new element has the focus.
 */
export function keepFocus(root) {
  let last = null;
  root.addEventListener("focusin", ({ target }) => {
    last = { target, region: target.closest("section, nav, header, main"), name: nameOf(target) };
  });
  root.addEventListener("focusout", () => {
    // The observer runs before this task. A user who left the element gets no focus back.
    const left = last;
    setTimeout(() => {
      if (last === left && document.activeElement === document.body) last = null;
    });
  });
  const observer = new MutationObserver((records) => {
    if (last === null || document.activeElement !== document.body) return;
    const { target, region, name } = last;
    if (!records.some(({ removedNodes }) => [...removedNodes].some((node) => node.contains(target)))) return;
    const places = [...(region ?? root).querySelectorAll(target.tagName)];
    const found = target.isConnected ? target : places.find((element) => nameOf(element) === name);
    found?.focus({ preventScroll: true });
  });
  observer.observe(root, { childList: true, subtree: true });
}
