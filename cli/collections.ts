import { CommandError } from "./exit.ts";
import { someOf } from "./nearest.ts";

/** A thing with an id, a name, or both. */
export interface Named {
  readonly id?: string;
  readonly name: string;
}

/** The list of things of one kind. */
interface Collection {
  /** Matches the path of a thing: the list's path, and what the list belongs to. */
  readonly at: RegExp;
  readonly list: (parts: readonly string[]) => string;
  /** The name in the request. */
  readonly asked: (parts: readonly string[]) => string;
  /** What people call one; absent: as the box names it. */
  readonly named?: (one: Readonly<Record<string, string>>) => Named;
  /** How to make such a thing. */
  readonly hint: string;
}

const inProject = (kind: string, command: string, at = 4): Collection => ({
  at: new RegExp(`^/v1/projects/[^/?]+/${kind}/([^/?]+)`),
  list: (parts) => `/${parts.slice(0, at).join("/")}`,
  asked: (parts) => decodeURIComponent(parts[at] ?? ""),
  hint: `box ${command} makes one`,
});

/** By the noun in the box's message. */
const collections: Readonly<Record<string, Collection>> = {
  project: {
    at: /^\/v1\/(projects\/|.*[?&]project=)/,
    list: () => "/v1/projects?limit=500",
    asked: (parts) =>
      decodeURIComponent(/[?&]project=([^&]*)/.exec(parts.join("/"))?.[1] ?? parts[2] ?? ""),
    hint: "box project add NAME makes one",
  },
  rule: inProject("rules", "rule set PROJECT FILE"),
  source: inProject("sources", "source add PROJECT NAME"),
  integration: inProject("integrations", "integration add-webhook PROJECT URL"),
  heartbeat: inProject("heartbeats", "heartbeat add PROJECT NAME"),
  action: inProject("actions", "action set PROJECT FILE"),
  report: {
    ...inProject("reports", "report create PROJECT TITLE"),
    named: ({ id = "", title = "" }) => ({ id, name: title }),
  },
  schedule: {
    ...inProject("oncall/schedules", "schedule set PROJECT FILE", 5),
    named: ({ name = "" }) => ({ name }),
  },
  alert: {
    at: /^\/v1\/alerts\/([^/?]+)/,
    list: () => "/v1/alerts?limit=5",
    asked: (parts) => decodeURIComponent(parts[2] ?? ""),
    named: ({ id = "", project, rule }) => ({ id, name: `${project}/${rule}` }),
    hint: "none has opened",
  },
};

export type Kind = "integration" | "action" | "report" | "heartbeat";
type Get = (path: string) => Promise<unknown>;

/** The things of a list, which the answer calls by the last word of the list's path. */
async function thingsAt(get: Get, list: string, { named }: Collection): Promise<Named[]> {
  const word = /(\w+)(?:\?|$)/.exec(list)?.[1] ?? "";
  const all = ((await get(list)) as Record<string, never[]>)[word] ?? [];
  return named === undefined ? all : all.map(named);
}

/** The list for a thing at `path`; null for a noun without a list. */
function collectionOf(noun: string, path: string): Collection | null {
  const found = collections[noun];
  return found?.at.test(path) ? found : null;
}

/** Extends a 404 "There is no such NOUN." by the name and the things that exist; null for other nouns. */
export async function unknownThing(
  sentence: string,
  path: string,
  get: Get,
): Promise<string | null> {
  const noun = /no such ([a-z ]+)\./.exec(sentence)?.[1] ?? "";
  const found = collectionOf(noun, path);
  if (found === null) return null;
  const parts = path.slice(1).split("/");
  const things = await thingsAt(get, found.list(parts), found);
  return unknown(noun, found.asked(parts), { things, hint: found.hint });
}

function unknown(
  noun: string,
  asked: string,
  { things, hint }: { things: readonly Named[]; hint: string },
): string {
  const names = things.map(({ id, name }) =>
    id === undefined || noun === "project" ? name : name === "" ? id : `${name} (${id})`,
  );
  const there =
    names.length === 0 ? `there is none yet: ${hint}` : `there is ${someOf(asked, names)}`;
  return `there is no ${noun} "${asked}"; ${there}`;
}

/** The id of a thing, by its id or name. Throws CommandError that lists the things. */
export async function idOf(
  get: Get,
  what: { kind: Kind; project: string },
  asked: string,
): Promise<string> {
  const { kind, project } = what;
  const found = collections[kind] as Collection;
  const list = `/v1/projects/${encodeURIComponent(project)}/${kind}s`;
  const things = await thingsAt(get, list, found);
  if (things.some(({ id }) => id === asked)) return asked;
  const named = things.filter(({ name }) => name === asked);
  const [only] = named;
  if (named.length === 1 && only?.id !== undefined) return only.id;
  if (named.length > 1)
    throw new CommandError(
      `${named.length} ${kind}s are called "${asked}": ${named.map(({ id }) => id).join(", ")}`,
    );
  throw new CommandError(unknown(kind, asked, { things, hint: found.hint }));
}
