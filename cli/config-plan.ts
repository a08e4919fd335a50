import { api, path, v1 } from "./api.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError } from "./exit.ts";
import { RefusedError } from "./refused.ts";

/** A change of the whole box, in words, and the function that makes it. */
export interface TenantChange {
  kind: string;
  name: string;
  change: "create" | "update" | "delete";
  /** What of it changes, a line each. */
  lines?: string[];
  /** What of the projects refers to it, and is applied later. */
  neededBy?: "schedules" | "rules";
  apply(): Promise<unknown>;
}

/** All things of a noun, as the box lists them. */
export const listed = async <T>(options: ApiOptions, noun: string): Promise<T[]> =>
  (await api.get<Record<string, T[]>>(options, v1(noun)))[noun] ?? [];

/** The things of a noun that the box has, and those that a file wants. */
interface Wanted<There, File> {
  kind: TenantChange["kind"];
  /** The address of their list. */
  at: string;
  there: readonly There[];
  wanted: readonly File[];
  nameOf(one: There | File): string;
  /** How one becomes what the file says; null where it is so already. */
  put(
    one: File,
    known: { before: There | undefined; i: number },
  ): Promise<Omit<TenantChange, "kind" | "name" | "change"> | null>;
  /** Throws CommandError where one that the file lacks can't go. */
  mayGo?(one: There): void;
}

/** The changes that a file's things of a noun make. */
export async function planEach<There, File>(
  options: ApiOptions,
  { kind, at, there, wanted, nameOf, put, mayGo }: Wanted<There, File>,
): Promise<TenantChange[]> {
  const gone = new Map(there.map((one) => [nameOf(one), one]));
  const changes: TenantChange[] = [];
  for (const [i, one] of wanted.entries()) {
    const name = nameOf(one);
    const before = gone.get(name);
    gone.delete(name);
    const made = await put(one, { before, i });
    const change = before === undefined ? "create" : "update";
    if (made !== null) changes.push({ kind, name, change, ...made });
  }
  for (const [name, one] of gone) {
    mayGo?.(one);
    const apply = () => api.delete(options, at + path(name));
    changes.push({ kind, name, change: "delete", apply });
  }
  return changes;
}

/** Throws what the box refused again, with the lines of the file that it is about. */
export const ofFile =
  (what: string, linesOf: (refused: RefusedError) => string[]) =>
  (error: unknown): never => {
    if (!(error instanceof RefusedError)) throw error;
    throw new CommandError([`${what}: ${error.sentence}`, ...linesOf(error)].join("\n"));
  };
