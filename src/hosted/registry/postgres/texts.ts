/**
 * A text that PostgreSQL can hold: the character 0 is replaced by its symbol. A page must not be lost over it; in a
 * stranger's input it makes a name unknown, and not a server error.
 */
export const storableText = (text: string): string =>
  text.includes("\0") ? text.replaceAll("\0", "␀") : text;
