import { isAsciiDigit, isAsciiLetter } from "../text/classes.ts";
import { DASH, DOT, UNDERSCORE } from "../text/codes.ts";
import { HOST_ENDINGS, PACKAGE_STARTS, PORTS, SOURCE_ENDINGS } from "../text/words.ts";
import type { Chunk } from "./numbers.ts";

/** `cache.example.asia:6379`: a dotted name in small letters before a port, unless it ends like a source file. */
export function isHostAndPort({ text, from, to }: Chunk): boolean {
  const colon = text.indexOf(":", from);
  if (to - colon < 3 || to - colon > 6) return false;
  for (let i = colon + 1; i < to; i++) if (!isAsciiDigit(text.charCodeAt(i))) return false;
  const name = text.slice(from, colon);
  if (name === "localhost" || (PORTS.has(text.slice(colon + 1, to)) && isPlain(name))) return true;
  const last = name.lastIndexOf(".");
  if (last < 1 || SOURCE_ENDINGS.has(name.slice(last + 1))) return false;
  if (PACKAGE_STARTS.has(name.slice(0, name.indexOf("."))))
    return isHost({ text, from, to: colon, next: 0 });
  return name === name.toLowerCase();
}

function isPlain(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (!isAsciiLetter(code) && !isAsciiDigit(code) && code !== DASH && code !== UNDERSCORE)
      return false;
  }
  return name === name.toLowerCase();
}

/** A dotted name that ends like a host and doesn't begin like a package. */
export function isHost({ text, from, to }: Chunk): boolean {
  const first = text.indexOf(".", from);
  const last = text.lastIndexOf(".", to - 1);
  if (first <= from || last >= to - 1) return false;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (!isAsciiLetter(code) && !isAsciiDigit(code) && code !== DOT && code !== DASH) {
      if (code !== UNDERSCORE) return false;
    }
  }
  const ending = text.slice(last + 1, to).toLowerCase();
  if (!HOST_ENDINGS.has(ending) || (ending.length === 2 && first === last)) return false;
  return !PACKAGE_STARTS.has(text.slice(from, first));
}
