// Style sheets and SVG of elements.

/** Makes a style sheet that shadow roots adopt. @param {string} css @returns {CSSStyleSheet} */
export function sheet(css) {
  const made = new CSSStyleSheet();
  made.replaceSync(`[hidden] { display: none !important; } ${css}`);
  return made;
}

/** Registers an element once. @param {string} name @param {CustomElementConstructor} element */
export function define(name, element) {
  if (!customElements.get(name)) customElements.define(name, element);
}

/** Amount as people write it: groups of three digits. @param {string | number | bigint | undefined | null} amount @returns {string} */
export function credits(amount) {
  return String(BigInt(amount || 0)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Whether less motion is asked for. */
export function isStill() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Sets an element's text where it differs, so that nothing is told or drawn twice. @param {Element} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
