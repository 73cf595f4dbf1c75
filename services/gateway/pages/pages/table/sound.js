// A few soft sounds, made by WebAudio.

/** Notes of each sound: hertz, begin in s, length in s, loudness. @type {Record<string, [number, number, number, number][]>} */
const SOUNDS = {
  deal: [[2100, 0, 0.035, 0.05]],
  move: [[520, 0, 0.06, 0.07]],
  chips: [[1400, 0, 0.04, 0.06], [1850, 0.05, 0.05, 0.05]],
  turn: [[587, 0, 0.16, 0.1], [880, 0.12, 0.28, 0.09]],
  shift: [[180, 0, 0.6, 0.12], [270, 0.08, 0.6, 0.1], [405, 0.16, 0.6, 0.08]],
  win: [[523, 0, 0.2, 0.08], [659, 0.1, 0.2, 0.08], [784, 0.2, 0.35, 0.09]],
};

export class Sound {
  /** @type {AudioContext | null} */
  context = null;
  /** Time of the last sound: a burst of updates is heard once. */
  lastMs = 0;

  /** @param {string} name */
  play(name) {
    const now = performance.now();
    if (document.hidden || (now - this.lastMs < 60 && name === "deal")) return;
    this.lastMs = now;
    this.context ??= new AudioContext();
    if (this.context.state === "suspended") void this.context.resume();
    for (const [hertz, begin, length, loud] of SOUNDS[name] ?? []) this.note(hertz, this.context.currentTime + begin, length, loud);
  }

  /** @param {number} hertz @param {number} at @param {number} length @param {number} loud */
  note(hertz, at, length, loud) {
    if (!this.context) return;
    const [tone, volume] = [this.context.createOscillator(), this.context.createGain()];
    tone.type = hertz < 500 ? "sine" : "triangle";
    tone.frequency.value = hertz;
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(loud, at + 0.008);
    volume.gain.exponentialRampToValueAtTime(0.0001, at + length);
    tone.connect(volume).connect(this.context.destination);
    tone.start(at);
    tone.stop(at + length + 0.02);
  }

  end() { void this.context?.close(); }
}
