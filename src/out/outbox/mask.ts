/**
 * Keeps an action's sealed headers and body out of what is stored of the answers: receivers echo
 * (contract §2, Ids, tokens, secrets).
 */

/** A shorter value is no secret, and would punch holes into everything. */
export const SHORTEST_SECRET = 6;
const MASK = "[sealed]";

/**
 * Every text that gives a header value or the body away: each whole, as JSON would write it, the
 * credential behind a scheme (`Bearer …`), and each value inside a JSON or form body.
 */
export function secretsOf(
  headers: Readonly<Record<string, string>>,
  body: string | null,
): string[] {
  const secrets = new Set<string>();
  const add = (value: string) => {
    for (const written of [value.trim(), inJson(value)])
      if (written.length >= SHORTEST_SECRET) secrets.add(written);
  };
  for (const value of Object.values(headers)) {
    add(value);
    const credential = /^\s*\S+\s+(\S+)\s*$/.exec(value)?.[1];
    if (credential !== undefined) add(credential);
  }
  if (body !== null) for (const value of [body, ...valuesIn(body)]) add(value);
  return [...secrets];
}

/** Characters that JSON writes as they are. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** The text as JSON writes it, without quotes. */
function inJson(text: string): string {
  return PLAIN.test(text) ? text : JSON.stringify(text).slice(1, -1);
}

/**
 * The text with every secret in it replaced. `truncated`: it was longer, so its end may be the
 * beginning of a secret, which goes too.
 */
export function mask(text: string, secrets: readonly string[], truncated: boolean): string {
  if (!truncated && !secrets.some((secret) => text.includes(secret))) return text;
  const found = secrets.flatMap((secret) => [
    ...occurrences(text, secret),
    ...(truncated ? cutOff(text, secret) : []),
  ]);
  let masked = "";
  let end = 0;
  for (const span of found.sort((a, b) => a.start - b.start)) {
    if (span.start > end || masked === "") masked += text.slice(end, span.start) + MASK;
    end = Math.max(end, span.end);
  }
  return masked + text.slice(end);
}

interface Span {
  start: number;
  end: number;
}

function* occurrences(text: string, secret: string): Generator<Span> {
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1)) {
    yield { start: at, end: at + secret.length };
  }
}

/** The longest end of the text that is the beginning of the secret, if any. */
function cutOff(text: string, secret: string): Span[] {
  for (let start = Math.max(0, text.length - secret.length); start < text.length; start++) {
    if (secret.startsWith(text.slice(start))) return [{ start, end: text.length }];
  }
  return [];
}

function valuesIn(body: string): string[] {
  const values: string[] = [];
  try {
    JSON.parse(body, (_key, value) => {
      if (typeof value === "string" || typeof value === "number") values.push(String(value));
      return value;
    });
    return values;
  } catch {
    return [...new URLSearchParams(body).values()];
  }
}
