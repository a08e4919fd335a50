import { sha256 } from "../../../ground/kit/ids.ts";
import { excessOf } from "../../../ground/kit/json.ts";
import { cut } from "../../../ground/kit/text.ts";
import { isWebAddress } from "../../ingest/named-fields.ts";
import { asText, objectOf, timeOf } from "../json.ts";
import { htmlText } from "./html.ts";
import { follow, MOST_VALUE, pointerSteps, valueText } from "./values.ts";

/** Takes a value and returns one. It never throws, and its time grows with the value's length. */
export type Transform = (value: unknown) => unknown;

const PARSED = { deepest: 16, values: 10_000 };
/** Characters of a transform's argument: a replacement can be inserted many times. */
const MOST_WORD = 64;

const ofText = (change: (text: string) => unknown): Transform => {
  return (value) => (value === null ? null : change(valueText(value)));
};

const plain: Readonly<Record<string, Transform>> = {
  trim: (value) =>
    Array.isArray(value)
      ? value.map((item) => (typeof item === "string" ? item.trim() : item))
      : ofText((text) => text.trim())(value),
  lower: ofText((text) => text.toLowerCase()),
  upper: ofText((text) => text.toUpperCase()),
  line: ofText((text) => text.trimStart().split("\n", 1)[0]?.trimEnd() ?? ""),
  num: ofText((text) => numberOf(text)),
  int: ofText((text) => {
    const number = numberOf(text);
    return number === null ? null : Math.trunc(number);
  }),
  bool: ofText((text) => truthOf(text.trim().toLowerCase())),
  json: (value) => (typeof value === "string" ? parsed(value) : value),
  kv: pairsOf,
  time: moment,
  url: ofText((text) => (isWebAddress(text.trim()) ? text.trim() : null)),
  html: ofText(htmlText),
  hash: ofText(sha256),
  basename: ofText(
    (text) =>
      text
        .replace(/[/\\]$/, "")
        .split(/[/\\]/)
        .at(-1) ?? "",
  ),
};

const withWord: Readonly<Record<string, (word: string) => Transform | null>> = {
  cut: (word) => {
    const most = /^\d{1,5}$/.test(word) ? Number(word) : 0;
    return most === 0 ? null : ofText((text) => cut(text, most));
  },
  split: (word) => (word === "" ? null : ofText((text) => text.split(word))),
  join: (word) => (value) => (Array.isArray(value) ? joined(value, word) : value),
  at: (word) => {
    const steps = pointerSteps(word);
    return steps === null ? null : (value) => follow(value, steps);
  },
  before: (word) => (word === "" ? null : ofText((text) => text.split(word, 1)[0] ?? "")),
  after: (word) =>
    word === ""
      ? null
      : ofText((text) => {
          const at = text.indexOf(word);
          return at === -1 ? text : text.slice(at + word.length);
        }),
  replace: (word) => {
    const [from = "", ...to] = word.split(":");
    return from === "" ? null : ofText((text) => text.replaceAll(from, () => to.join(":")));
  },
  prefix: (word) => ofText((text) => (text === "" ? "" : word + text)),
};

/** All names, as a fault lists them. */
export const transformNames = [
  ...Object.keys(plain),
  ...Object.keys(withWord).map((name) => `${name}:…`),
].join(", ");

/** The transform that a text names, `lower` or `cut:80`; null for an unknown one. */
export function findTransform(text: string): Transform | null {
  const colon = text.indexOf(":");
  const name = colon === -1 ? text : text.slice(0, colon);
  const word = text.slice(colon + 1);
  if (colon === -1) return bounded(Object.hasOwn(plain, name) ? plain[name] : undefined);
  if (word.length > MOST_WORD || !Object.hasOwn(withWord, name)) return null;
  return bounded(withWord[name]?.(word));
}

/** Cuts the result to the length that the next transform accepts. */
function bounded(transform: Transform | null | undefined): Transform | null {
  if (!transform) return null;
  return (value) => {
    const result = transform(value);
    return typeof result === "string" ? cut(result, MOST_VALUE) : (result ?? null);
  };
}

function numberOf(text: string): number | null {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : null;
}

function truthOf(text: string): boolean | null {
  if (["true", "yes", "on", "1"].includes(text)) return true;
  return ["false", "no", "off", "0"].includes(text) ? false : null;
}

function parsed(text: string): unknown {
  try {
    return excessOf(text, PARSED) !== null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

function joined(values: readonly unknown[], separator: string): string {
  let text = "";
  for (const [i, value] of values.entries()) {
    if (text.length > MOST_VALUE) break;
    text += (i === 0 ? "" : separator) + valueText(value);
  }
  return text;
}

/** Pairs from a list of tags, labels or fields: the name under one of three keys, the value under its own. */
function pairsOf(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const pairs: Record<string, unknown> = Object.create(null);
  for (const item of value as unknown[]) {
    const fields = objectOf(item);
    const name = asText(fields?.["tag"] ?? fields?.["name"] ?? fields?.["key"]);
    if (name !== "") pairs[name] = fields?.["value"] ?? "";
  }
  return pairs;
}

/** A larger number is in milliseconds, microseconds or nanoseconds. */
const LATEST_SECOND = 100_000_000_000;

function moment(value: unknown): number | null {
  const text = asText(value).trim();
  const number = numberOf(text);
  if (number === null) return wallTime(text);
  let seconds = number;
  while (seconds >= LATEST_SECOND) seconds /= 1000;
  return seconds > 0 ? Math.floor(seconds) : null;
}

/** RFC 3339, or the same without a zone, which is read as UTC. */
function wallTime(text: string): number | null {
  const seconds = timeOf(text);
  return seconds !== null && seconds > 0 ? seconds : null;
}
