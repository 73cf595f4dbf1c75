// Places of pips on a card of 100 by 140, and the corner index that all decks share.

/** Places of `n` pips, 1 to 11. @param {number} n @returns {[number, number][]} */
export function places(n) {
  const [left, right, middle] = [33, 67, 50];
  /** @param {number} x @param {number[]} ys @returns {[number, number][]} */
  const column = (x, ys) => ys.map((y) => [x, y]);
  /** @type {Record<number, [number, number][]>} */
  const all = {
    1: column(middle, [70]),
    2: column(middle, [44, 96]),
    3: column(middle, [40, 70, 100]),
    4: [...column(left, [44, 96]), ...column(right, [44, 96])],
    5: [...column(left, [44, 96]), ...column(right, [44, 96]), ...column(middle, [70])],
    6: [...column(left, [40, 70, 100]), ...column(right, [40, 70, 100])],
    7: [...column(left, [40, 70, 100]), ...column(right, [40, 70, 100]), ...column(middle, [55])],
    8: [...column(left, [40, 70, 100]), ...column(right, [40, 70, 100]), ...column(middle, [55, 85])],
    9: [...column(left, [37, 59, 81, 103]), ...column(right, [37, 59, 81, 103]), ...column(middle, [70])],
    10: [...column(left, [37, 59, 81, 103]), ...column(right, [37, 59, 81, 103]), ...column(middle, [48, 92])],
    11: [...column(left, [37, 59, 81, 103]), ...column(right, [37, 59, 81, 103]), ...column(middle, [48, 70, 92])],
  };
  return all[n] ?? [];
}

/** Group at a place. @param {number} x @param {number} y @param {number} scale @param {string} inner @param {boolean} [turned] */
export function at(x, y, scale, inner, turned = false) {
  return `<g transform="translate(${x} ${y})${turned ? " rotate(180)" : ""} scale(${scale})">${inner}</g>`;
}

/** Pips of a number card. @param {number} n @param {string} emblem */
export function pips(n, emblem) {
  const scale = n === 1 ? 2.1 : n <= 3 ? 1.25 : n <= 6 ? 1.05 : 0.82;
  return places(n).map(([x, y]) => at(x, y, scale, emblem, y > 76)).join("");
}

/** Index in two corners: the value, and a small emblem under it. @param {string} text @param {string} emblem @param {boolean} [once] in the upper corner alone */
export function corners(text, emblem, once = false) {
  const size = text.length > 2 ? 15 : text.length > 1 ? 18 : 21;
  const x = text.length > 2 ? 21 : text.length > 1 ? 17 : 15;
  const one = `<text class="index" x="${x}" y="25" font-size="${size}">${text}</text>${at(x, 35, 0.52, emblem)}`;
  return once ? one : `${one}<g transform="rotate(180 50 70)">${one}</g>`;
}

/** Drawing for small cards: the value large, the emblem under it. @param {string} text @param {string} emblem */
export function large(text, emblem) {
  const size = text.length > 2 ? 38 : text.length > 1 ? 52 : 66;
  return `<text class="index" x="50" y="${66 + size * 0.1}" font-size="${size}">${text}</text>${at(50, 106, 2.1, emblem)}`;
}
