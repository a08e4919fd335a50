import type { GivenFile } from "./given-file.ts";

/** What is read from a running system. Pure: requests go out, answers come in, and the result is an export's files. */
export interface LiveReader {
  /** null: the API needs no token. */
  headers: ((token: string) => Readonly<Record<string, string>>) | null;
  files(options: { now: number }): LiveFiles;
}

/** A GET of the path below the API's address; with a body, a POST of it as JSON. */
export interface LiveRequest {
  path: string;
  body?: object;
}

/** Yields requests, gets the JSON of each answer, and returns files. */
export type LiveFiles<T = GivenFile[]> = Generator<LiveRequest, T, unknown>;

/** How long ahead shifts and overrides are asked for, in days. */
export const LIVE_DAYS = 90;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

/** A field of an answer, at any depth; undefined where there is none. */
export const fieldAt = (value: unknown, ...names: string[]): unknown =>
  names.reduce((one, name) => fieldsOf(one)[name], value);

/** The ids of the things in an answer's list. */
export function thingIds(answers: readonly unknown[], ...names: string[]): string[] {
  return answers
    .flatMap((answer) => fieldAt(answer, ...names) ?? [])
    .map((one) => fieldAt(one, "id"))
    .filter((id) => typeof id === "string");
}

export const fileOf = (name: string, answer: unknown): GivenFile => ({
  name,
  text: JSON.stringify(answer),
});

/** `users.json`, `users-2.json`: a file for each page. */
export const filesOf = (name: string, answers: readonly unknown[]): GivenFile[] =>
  answers.map((answer, i) => fileOf(`${name}${i === 0 ? "" : `-${i + 1}`}.json`, answer));

/** Asks for a list page by page. `next`: what the next page's query is; null after the last. */
export function* pagesOf(
  path: string,
  next: (answer: unknown) => Readonly<Record<string, string>> | null,
): LiveFiles<unknown[]> {
  const answers: unknown[] = [];
  for (let query: Readonly<Record<string, string>> | null = {}; query !== null; ) {
    const answer: unknown = yield { path: withQuery(path, query) };
    answers.push(answer);
    query = next(answer);
  }
  return answers;
}

/** The query of a link to the next page. Its host isn't used: the token goes to the given address only. */
export function queryOfLink(link: unknown): Readonly<Record<string, string>> | null {
  const url = typeof link === "string" ? URL.parse(link, "http://localhost") : null;
  return url === null ? null : Object.fromEntries(url.searchParams);
}

function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const [base = "", given] = path.split("?");
  const all = new URLSearchParams(given);
  for (const [name, value] of Object.entries(query)) all.set(name, value);
  return all.size === 0 ? base : `${base}?${all}`;
}
