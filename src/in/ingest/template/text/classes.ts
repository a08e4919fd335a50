/** Character classes: the miner reads a message once and needs only the class of each UTF-16 unit. */
export const BLANK = 1;
export const LETTER = 2;
export const DIGIT = 3;
/** Punctuation that belongs to a token: `-`, `_`, `.`, `/`, `:` … */
export const INNER = 4;
/** Punctuation that ends a token: `,`, `=`, brackets … */
export const SEPARATOR = 5;
export const QUOTE = 6;
export const CONTROL = 7;
/** Scripts without blanks (Han, Kana, Hangul …): a word ends where an ASCII letter or a digit begins. */
export const WIDE = 8;
export const SURROGATE = 9;

const classes = new Uint8Array(65_536);
const INNER_ASCII = "!#$%&*+-./:?@\\^_~";
const SEPARATOR_ASCII = ",;=()[]{}<>|";

for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code);
  if (code === 32) classes[code] = BLANK;
  else if (code < 32 || code === 127) classes[code] = CONTROL;
  else if (code >= 48 && code <= 57) classes[code] = DIGIT;
  else if (INNER_ASCII.includes(char)) classes[code] = INNER;
  else if (SEPARATOR_ASCII.includes(char)) classes[code] = SEPARATOR;
  else if (char === '"' || char === "'" || char === "`") classes[code] = QUOTE;
  else classes[code] = LETTER;
}

/** The class of a UTF-16 unit. Outside ASCII it comes from Unicode's tables, and is cached. */
export function classOf(code: number): number {
  const known = classes[code] as number;
  return known === 0 ? learn(code) : known;
}

function learn(code: number): number {
  const learnt = unicodeClass(code);
  classes[code] = learnt;
  return learnt;
}

function unicodeClass(code: number): number {
  if (code >= 0xd800 && code <= 0xdfff) return SURROGATE;
  const char = String.fromCharCode(code);
  if (/\p{Nd}/u.test(char)) return DIGIT;
  if (/\p{Z}/u.test(char) || code === 0xfeff) return BLANK;
  if (/[\p{Cc}\p{Cf}]/u.test(char)) return CONTROL;
  if (/[\p{L}\p{M}\p{Nl}\p{No}]/u.test(char)) return code >= 0x2e80 ? WIDE : LETTER;
  return /[\p{Ps}\p{Pe}\p{Pi}\p{Pf}\p{Po}]/u.test(char) ? SEPARATOR : INNER;
}

export function isAsciiDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

export function isAsciiLetter(code: number): boolean {
  const lower = code | 32;
  return lower >= 97 && lower <= 122;
}

export function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

export function isHex(code: number): boolean {
  if (isAsciiDigit(code)) return true;
  const lower = code | 32;
  return lower >= 97 && lower <= 102;
}

/** An ASCII letter, a digit or `_`. */
export function isNameUnit(code: number): boolean {
  return isAsciiLetter(code) || isAsciiDigit(code) || code === 95;
}
