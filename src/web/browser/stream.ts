/*
 * What the stream of changes says. Pure: the same file runs in browsers and in tests.
 */

/** One message of an event stream. `id`: the last one that was told, "" where none was. */
export interface StreamEvent {
  event: string;
  data: string;
  id: string;
}

/** More than a message ever has, in characters: what grows past it is no stream of ours. */
const LONGEST = 1_000_000;

/**
 * Reads an event stream piece by piece (WHATWG HTML 9.2.6), calling `heard` for each whole message. `EventSource` would
 * do, but it tells nobody of comments: the only sign that a silent stream still stands.
 */
export function createStreamReader(heard: (event: StreamEvent) => void): (piece: string) => void {
  let rest = "";
  let id = "";
  let event = "";
  let data: string[] = [];

  const end = () => {
    if (data.length > 0) heard({ event: event || "message", data: data.join("\n"), id });
    event = "";
    data = [];
  };
  const read = (line: string) => {
    if (line === "") return end();
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
    else if (field === "id" && !value.includes("\0")) id = value;
  };
  return (piece) => {
    rest += piece;
    // A line that ends in CR may have its LF in the next piece.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = (lines.pop() ?? "").slice(0, LONGEST);
    for (const line of lines) read(line);
  };
}

/** What changed, from a message's data or a poll's answer; null where it is none of ours. */
export function readTopics(data: unknown): string[] | null {
  const topics = (data as { topics?: unknown } | null)?.topics;
  return Array.isArray(topics) ? topics.filter((topic) => typeof topic === "string") : null;
}

/** A section's `data-live`: topics apart by spaces, the last part of one may be `*`. */
export function watches(live: string, topics: readonly string[]): boolean {
  return live
    .split(/\s+/)
    .filter((one) => one !== "")
    .some((one) =>
      one.endsWith("*")
        ? topics.some((topic) => topic.startsWith(one.slice(0, -1)))
        : topics.includes(one),
    );
}

/** Whether what was drawn at `drawn` shows the change `told`, both as the stream counts them. Not known: it doesn't. */
export function shows(drawn: string | null | undefined, told: string): boolean {
  const [boot, count] = drawn?.split("-") ?? [];
  const [toldBoot, toldCount] = told.split("-");
  return boot === toldBoot && Number(count) >= Number(toldCount);
}

/** All topics of a page's sections, each once and sorted, for the address of the stream. */
export function allTopics(lives: readonly string[]): string {
  const all = lives.flatMap((live) => live.split(/\s+/)).filter((one) => one !== "");
  return [...new Set(all)].sort().join(",");
}
