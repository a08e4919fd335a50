import fc from "fast-check";
import { seed } from "./seed.ts";

/** fast-check with the tests' seed: whoever draws takes it from here. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/**
 * Any character of Unicode, each as likely as the others: `unit` of a string. It is fast-check's own "binary", which fills
 * a table of all million of them in each process before it draws the first.
 */
export const anyCharacter = fc.nat(0x10ffff - SURROGATES).map(
  (n) => String.fromCodePoint(n < FIRST_SURROGATE ? n : n + SURROGATES),
  (character) => {
    const code = typeof character === "string" ? character.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== character || !character.isWellFormed())
      throw new Error("not one character");
    return code < FIRST_SURROGATE ? code : code - SURROGATES;
  },
);

export default fc;
