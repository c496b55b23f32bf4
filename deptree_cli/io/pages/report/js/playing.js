/* Samples of the sentence that is shown, one by one: of the file, or drawn now, given the heads that are fixed. */

const PACE = 900; // milliseconds a sample stays

/* What a view of a sentence extends: it has `sentence`, `given`, `numbers`, the button `play`, and redraws itself. */
class Player {
  step() {
    const { sentence } = this,
      { n, samples } = sentence;
    if (samples.length && !this.given.size) {
      const at = (this.drawnSamples % (samples.length / n)) * n;
      this.drawnSamples = at / n + 1;
      this.sample = Array.from(samples.subarray(at, at + n));
    } else if (sentence.computes) {
      this.drawnSamples++;
      this.sample = sampleTree(this.numbers, n, this.data.singleRoot, this.given);
    }
    this.refresh();
  }

  toggle() {
    if (this.timer) {
      this.rest();
      return this.refresh();
    }
    if (this.play.disabled) return;
    this.step();
    this.timer = setInterval(() => this.step(), PACE);
    this.play.textContent = "Stop samples";
    this.play.setAttribute("aria-pressed", "true");
  }

  rest() {
    clearInterval(this.timer);
    Object.assign(this, { timer: null, sample: null, drawnSamples: 0 });
    this.play.textContent = "Play samples";
    this.play.setAttribute("aria-pressed", "false");
  }
}
