/** An attempt's error within a sentence: `http 503` as "it answered 503". */
export const errorWords = (error: string): string =>
  error.replace(/^http (?=\d{3}\b)/, "it answered ");
