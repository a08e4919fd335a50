import type { IngestEvent } from "../../ingest/event.ts";
import type { NamedState } from "../../ingest/named-fields.ts";
import type { InRequest, Rejected } from "../adapter.ts";
import { fitted, type Loose } from "../fit.ts";
import { asText, objectOf } from "../json.ts";
import { ALERT_LEVEL, levelOfWord } from "../levels.ts";
import type { FieldName, Mapping } from "./document.ts";
import { mappedPairs } from "./flatten.ts";
import { type Guess, guessed } from "./guess.ts";
import { WORD } from "./spec.ts";
import { type Budget, follow, isFilled, type MappingPosition, valueText } from "./values.ts";

/** Elements into which one request can be split. */
const MOST_EACH = 1000;
/** The work that every request may cost, and what each byte adds, in characters read. */
const ALWAYS = 1_000_000;
const PER_BYTE = 4;
const ACTIONS = ["fire", "resolve", "acknowledge", "note", "change"] as const;

/** A request's events by its mapping, or by guesses without one. */
export function mapped(
  root: unknown,
  { mapping, request, tag }: { mapping: Mapping | null; request: InRequest; tag: string },
): { events: IngestEvent[]; rejected: Rejected[] } {
  const budget: Budget = { left: ALWAYS + request.body.length * PER_BYTE };
  const { query, header, watched } = request;
  const around = { root, query, header, budget, watched };
  const events: IngestEvent[] = [];
  const rejected: Rejected[] = [];
  const elements = elementsOf(root, mapping);
  if (elements === null)
    return { events, rejected: [{ reason: "there is no list where each looks for it" }] };
  for (const here of elements.slice(0, MOST_EACH)) {
    const place = { here, ...around };
    if (budget.left <= 0)
      rejected.push({ reason: "the mapping reads too much of so long a body again and again" });
    // When its conditions used up the budget, their result is unknown: the element becomes an event.
    else if (mapping === null || mapping.when.every((holds) => holds(place)) || budget.left <= 0)
      events.push(fitted(eventOf(place, mapping, tag), watched));
  }
  if (elements.length > MOST_EACH)
    rejected.push({ reason: `of ${elements.length} elements the first ${MOST_EACH} were taken` });
  return { events, rejected };
}

/** Without a mapping, a list is one event per element; null where the mapping's list is missing. */
function elementsOf(root: unknown, mapping: Mapping | null): readonly unknown[] | null {
  if (mapping === null) return Array.isArray(root) ? root : [root];
  if (mapping.each === null) return Array.isArray(root) ? root : [root];
  const list = follow(root, mapping.each);
  return Array.isArray(list) ? list : null;
}

function eventOf(place: MappingPosition, mapping: Mapping | null, tag: string): Loose {
  const guess = guessed(place.here);
  const read = (name: FieldName) => mapping?.fields[name]?.(place) ?? null;
  const says = (name: FieldName) => (mapping?.fields[name] ?? null) !== null;
  const name = says("dedup_key") ? valueText(read("dedup_key")) : guess.dedupKey;
  const message = valueText(read("message")) || guess.message;
  const details = says("details") ? valueText(read("details")) : guess.details;
  const occurredAt = read("occurred_at");
  return {
    message,
    title: mapping === null ? guess.title : valueText(read("title")),
    level: says("level") ? levelOf(read("level")) : (guess.level ?? ALERT_LEVEL),
    keys: keysOf(place, mapping, guess),
    tags: tagsOf(place, mapping, tag),
    named: named({
      action: says("action")
        ? asText(read("action"))
        : guess.isOver && name !== ""
          ? "resolve"
          : "",
      name,
      instance: valueText(read("instance")),
    }),
    details: details === message ? "" : details,
    links: linksOf(place, mapping, guess),
    images: (mapping?.images ?? []).map((image) => ({ src: valueText(image(place)) })),
    occurredAt: typeof occurredAt === "number" ? Math.floor(occurredAt) : null,
  };
}

function named(of: { action: string; name: string; instance: string }): NamedState {
  const action = ACTIONS.find((one) => one === of.action) ?? "fire";
  const { name, instance } = of;
  return { action, dedupKey: name || null, instance: instance || null, expiresAt: null };
}

/** A number means the level at or below it, a word its severity. */
function levelOf(value: unknown): number {
  if (typeof value === "number") return Math.min(500, Math.max(100, Math.floor(value / 100) * 100));
  const word = value !== null && typeof value === "object" ? objectOf(value)?.[WORD] : value;
  return levelOfWord(asText(word)) ?? ALERT_LEVEL;
}

function keysOf(place: MappingPosition, mapping: Mapping | null, guess: Guess): [string, string][] {
  const { budget, watched } = place;
  const keys = mapping?.keys ?? null;
  if (keys === null) {
    const drop = new Set(guess.used.map((name) => `/${name}`));
    return mappedPairs(place.here, { drop, from: "", budget, watched });
  }
  // Keys that the mapping sets come first, because rules use them.
  const set = keys.set
    .map(([name, read]): [string, string] => [name, valueText(read(place))])
    .filter(([, text]) => text !== "");
  const names = new Set(set.map(([name]) => name));
  const pairs = keys.from
    .flatMap(({ read, at }) =>
      mappedPairs(read(place), { drop: keys.drop, from: at, budget, watched }),
    )
    .filter(([name]) => !names.has(name));
  return [...set, ...pairs];
}

function tagsOf(place: MappingPosition, mapping: Mapping | null, tag: string): string[] {
  const tags = (mapping?.tags ?? []).flatMap((one) => {
    if (typeof one === "string") return one;
    const value = one(place);
    return Array.isArray(value) ? value.slice(0, 64).map(valueText) : valueText(value);
  });
  return [...new Set([tag, ...tags])];
}

function linksOf(place: MappingPosition, mapping: Mapping | null, guess: Guess) {
  const links = (mapping?.links ?? []).map(({ href, text }) => ({
    href: valueText(href(place)),
    text: text || "Source",
  }));
  return links.length > 0 || !isFilled(guess.link) ? links : [{ href: guess.link, text: "Source" }];
}
