import * as z from "zod";
import { cut } from "../../../ground/kit/text.ts";
import { headerEnd } from "./header/header.ts";
import { idOfShape } from "./mining/entry.ts";
import { Namer } from "./naming/general.ts";
import { Shaper, withoutColours } from "./reading/shape.ts";
import { withoutFrames } from "./reading/trace.ts";
import { HEADER, REST, textOfShape, WILD, withoutNames } from "./text/marks.ts";
import { LONGEST_WORD } from "./values/chunk.ts";
import { isHost, isHostAndPort } from "./values/hosts.ts";
import { isBlob, looksRandom } from "./values/names.ts";
import { allHex, type Chunk, isHexId, isNumeric } from "./values/numbers.ts";
import { timestampEnd } from "./values/timestamp.ts";

/** Why a message has its template. */
export const messageWhy = z.object({
  template: z.string().meta({ description: "That of this message alone." }),
  parts: z
    .array(
      z.object({
        text: z.string().nullable().meta({
          description: "As the message has it; null where its parts were put in another order.",
        }),
        why: z.string().meta({ description: "Why it varies, in words." }),
      }),
    )
    .meta({ description: "Each part that varies, in the order of the template's `<*>`." }),
});
export type MessageWhy = z.output<typeof messageWhy>;

/** `ids`: of the templates that it may be a shape of, the likeliest first. */
export function whyOf(message: string): MessageWhy & { ids: string[] } {
  const shape = new Shaper().shapeOf(message);
  const general = new Namer().generalOf(shape);
  const marks = general.match(MARKS) ?? [];
  const fixed = general.split(MARKS);
  const found = textsAt(withoutFrames(withoutColours(message)), fixed, {
    hasHeader: general.charCodeAt(0) === HEADER,
  });
  return {
    template: textOfShape(general),
    parts: marks.map((mark, n) => {
      const text = found?.[n] ?? null;
      return {
        text: text === null ? null : cut(text, LONGEST_TEXT),
        why: wordsOf(mark.charCodeAt(0), { text, before: fixed[n] ?? "" }),
      };
    }),
    ids: [...new Set([shape, withoutNames(general)])].map((of) => idOfShape(of)),
  };
}

const LONGEST_TEXT = 200;
const MARKS = /[\u0001-\u0005]/gu;

/** What stands between the fixed texts; null where they stand in another order, or the shape has less than the message. */
function textsAt(
  message: string,
  fixed: readonly string[],
  { hasHeader }: { hasHeader: boolean },
): string[] | null {
  const from = message.length - message.trimStart().length;
  const header = message.slice(from, headerEnd(message, from));
  const body = signsOf(message.slice(from + header.length));
  const [first = "", ...others] = hasHeader ? fixed.slice(1) : fixed;
  if (!body.startsWith(first)) return null;
  const texts = hasHeader ? [header.trim()] : [];
  let at = first.length;
  for (const [n, behind] of others.entries()) {
    const isLast = n === others.length - 1;
    const end = isLast ? body.length - behind.length : body.indexOf(behind, at + 1);
    if (end <= at || !body.startsWith(behind, end)) return null;
    texts.push(body.slice(at, end));
    at = end + behind.length;
  }
  return at === body.length ? texts : null;
}

/** As shapes have them. */
const signsOf = (text: string) =>
  text
    .replace(/ +/g, " ")
    .replace(/ ?\r?\n/g, "\\n")
    .replaceAll("\t", "\\t")
    .trimEnd();

function wordsOf(mark: number, { text, before }: { text: string | null; before: string }): string {
  if (mark === HEADER) return "where the message begins: its time, host, program, level";
  if (mark === REST) return "the rest of a long message";
  const key = KEY.exec(before)?.[1];
  if (key !== undefined) return `the value of "${key}"`;
  if (mark === WILD) return text === null ? "a value" : valueWords(text);
  const noun = NOUN.exec(before)?.[1];
  return noun === undefined ? "a name, by its form" : `a name, by its form or behind "${noun}"`;
}

const KEY = /([\w.-]+)"?\s?[=:]$/;
const NOUN = /(\p{L}+):? $/u;

/** As `putChunk` sees it. A list is said by its first value. */
function valueWords(text: string): string {
  const chunk: Chunk = { text, from: 0, to: text.length, next: 0 };
  const digits = text.match(/\d/g)?.length ?? 0;
  if (/^["'`]/.test(text)) return "a quoted text";
  if (timestampEnd(text, 0) === text.length) return "a time";
  if (digits > 0 && isNumeric(chunk)) return "a number, or what is written like one";
  if (text.includes("@")) return "an address";
  if (isHost(chunk) || isHostAndPort(chunk)) return "a host";
  if (/[/\\]/.test(text)) return "a path or an address";
  if (isRandom(chunk, digits)) return "an id";
  if (text.length > LONGEST_WORD) return "a long word";
  if (/^[-+.#]?\d/.test(text)) return "a number with its unit, or an id that begins with a digit";
  return digits > 0 ? "a name that ends in a number" : "a value";
}

const isRandom = (chunk: Chunk, digits: number) =>
  (digits > 0 ? isHexId(chunk, digits) : chunk.to >= 8 && allHex(chunk.text, 0, chunk.to)) ||
  isBlob(chunk.text, 0, chunk.to) ||
  (chunk.to >= 20 && looksRandom(chunk.text, 0, chunk.to));
