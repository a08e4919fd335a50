/**
 * Makes names that the box accepts: no slash or control character, no white space at the ends, at most `most`
 * characters. Each is given once: the second `db` is `db (2)`.
 */
export class UniqueNames {
  readonly #most: number;
  readonly #given = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  give(wanted: string): string {
    const plain = wanted
      .replace(/[/\p{Cc}]/gu, "-")
      .replace(/\s+/g, " ")
      .trim();
    const name = plain === "" || plain === "." || plain === ".." ? "unnamed" : plain;
    for (let n = 1; ; n += 1) {
      const end = n === 1 ? "" : ` (${n})`;
      const given = cutAt(name, this.#most - end.length) + end;
      if (this.#given.has(given)) continue;
      this.#given.add(given);
      return given;
    }
  }
}

function cutAt(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most
    ? text
    : `${characters
        .slice(0, most - 1)
        .join("")
        .trim()}…`;
}
