/**
 * A text as PostgreSQL can hold it: without the character 0, for which its picture stands. A page must not be lost over
 * it, and what a stranger sends is unknown then, and no fault of ours.
 */
export const storableText = (text: string): string =>
  text.includes("\0") ? text.replaceAll("\0", "␀") : text;
