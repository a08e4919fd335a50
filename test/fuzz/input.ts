/** Reads fuzzed bytes as the values that a target wants; past their end everything is empty. */
export class Input {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** 0 to 255. */
  byte(): number {
    return this.#bytes[this.#at++] ?? 0;
  }

  /** One of the choices. */
  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.byte() % choices.length] ?? choices[0];
  }

  flag(): boolean {
    return (this.byte() & 1) === 1;
  }

  /** A whole number of up to six bytes. */
  integer(): number {
    const bytes = this.#take(this.byte() % 7);
    return bytes.length === 0 ? 0 : bytes.readUIntBE(0, bytes.length);
  }

  /** A text that says its own length first; half of them hold lone surrogates and NUL where the bytes do. */
  text(most = 200): string {
    const bytes = this.#take(Math.min(most, this.byte()));
    return this.flag() ? bytes.toString("utf16le") : bytes.toString("utf8");
  }

  /** A text that is repeated up to 2,000 times, so that limits are met with few bytes. */
  long(): string {
    const text = this.text();
    return text.repeat(
      Math.min(this.flag() ? 1 : this.byte() * 8, Math.ceil(100_000 / (text.length + 1))),
    );
  }

  /** All that is left. */
  rest(): Buffer {
    return this.#take(this.#bytes.length);
  }

  #take(n: number): Buffer {
    const taken = this.#bytes.subarray(this.#at, this.#at + n);
    this.#at += n;
    return taken;
  }
}
