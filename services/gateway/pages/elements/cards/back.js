// Backs of the cards of all decks.

/** Backs: a lattice for each deck. @param {string} deck @returns {string} */
export function drawBack(deck) {
  /** @type {Record<string, string>} */
  const cells = {
    S76: '<path d="M8 1 15 8 8 15 1 8z"/><circle cx="8" cy="8" r="2"/>',
    K44: '<path d="M8 1 14 4.500v7L8 15l-6-3.500v-7z"/><path d="M8 5v6"/>',
    C62: '<circle cx="8" cy="8" r="5"/><path d="M0 8h3M13 8h3M8 0v3M8 13v3"/>',
    P42: '<path d="M0 0l16 16M16 0 0 16"/><path d="M8 4.5 11.5 8 8 11.5 4.5 8z"/>',
  };
  return `<defs><pattern id="lattice" width="16" height="16" patternUnits="userSpaceOnUse" x="2" y="6"><g class="lattice">${cells[deck] ?? cells["S76"]}</g></pattern></defs>
    <rect class="inner" x="7" y="7" width="86" height="126" rx="6"/><rect x="7" y="7" width="86" height="126" rx="6" fill="url(#lattice)"/>
    <path class="boss" d="M50 44 72 57v26L50 96 28 83V57z"/><path class="sigil" d="M60 60H47l-6 5 6 5h7l6 5-6 5H40"/>`;
}
