import type { Command } from "commander";
import type { Flags } from "../src/ground/kit/flags.ts";
import { api, namedId, path, v1 } from "./api.ts";
import type { Kind } from "./collections.ts";
import type { ApiOptions } from "./connection.ts";
import { apiFlags, print } from "./options.ts";
import { type Columns, tableOf } from "./table.ts";

/** Where the things of a noun are. */
export interface Things {
  /** The words that say whose they are: `<project> <schedule>`. */
  of: string;
  /** The word for one of them: `<id>`. */
  one: string;
  /** The address of their list, whose last part is what the answer calls them. */
  at(words: string[], options: ApiOptions): string | Promise<string>;
  /** One may be named by its name, where its address takes the id. */
  named?: Kind;
}

/** Things of a project whose addresses take their ids. */
export const namedInProject = (kind: Kind): Things => ({
  of: "<project>",
  one: `<${kind}>`,
  at: ([project = ""]) => v1("projects", project, `${kind}s`),
  named: kind,
});

interface ListWays<O> {
  /** Default: `list`. */
  name?: string;
  /** What is said where there is none. */
  none?: string;
  query?(options: O): string;
}

/** What is said of what the box answered. */
type Says<T, O> = (answer: T, options: O, named: string) => string;

/** The plain commands of a noun, below its group: `box action list`, `box action delete`. Each returns its command, for flags of its own. */
export function nounCommands(group: Command, { of, one, at, named }: Things) {
  const count = of.split(" ").filter(Boolean).length;
  const command = (words: readonly string[], about: string, own: Flags = {}) =>
    apiFlags(group.command(words.filter(Boolean).join(" ")), own).description(about);

  /** A verb of one thing, with its address. */
  function verb<O extends ApiOptions>(
    name: string,
    about: string,
    run: (place: string, options: O, named: string, more?: string) => Promise<void>,
    own: Flags = {},
  ): Command {
    const [first = "", ...more] = name.split(" ");
    return command([first, of, one, ...more], about, own).action(async (...given: unknown[]) => {
      const words = given.slice(0, count + 1 + more.length) as string[];
      const options = given[words.length] as O;
      const asked = words[count] ?? "";
      const whose = words.slice(0, count);
      const id =
        named === undefined
          ? asked
          : await namedId(options, { kind: named, project: whose[0] ?? "" }, asked);
      await run((await at(whose, options)) + path(id), options, asked, words[count + 1]);
    });
  }

  return {
    verb,
    list<T, O extends ApiOptions = ApiOptions>(
      about: string,
      columns: Columns<T> | ((options: O, of: string) => Promise<Columns<T>>),
      { name = "list", none, query = () => "" }: ListWays<O> = {},
    ): Command {
      return command([name, of], about).action(async (...given: unknown[]) => {
        const options = given[count] as O;
        const words = given.slice(0, count) as string[];
        const place = await at(words, options);
        const answer = await api.get<Record<string, T[]>>(options, place + query(options));
        const rows = answer[place.slice(place.lastIndexOf("/") + 1)] ?? [];
        const shown =
          typeof columns === "function" ? await columns(options, words[0] ?? "") : columns;
        print(answer, options, () =>
          rows.length === 0 && none !== undefined ? none : tableOf(shown, rows),
        );
      });
    },
    /** `POST …/{verb}`, or what else stands behind the thing. */
    post<T extends object, O extends ApiOptions = ApiOptions>(
      name: string,
      about: string,
      says: Says<T, O>,
      below = `/${name}`,
    ): Command {
      return verb<O>(name, about, async (place, options, asked) => {
        const answer = await api.post<T>(options, place + below);
        print(answer, options, () => says(answer, options, asked));
      });
    },
    rename(about: string): Command {
      return verb("rename <to>", about, async (place, options, _asked, to) => {
        const at = `${place}/rename`;
        const answer = await api.post<{ name: string }>(options, at, { name: to });
        print(answer, options, () => `renamed to ${answer.name}`);
      });
    },
    delete(about: string, name = "delete", done = "deleted"): Command {
      return verb(name, about, async (place, options, asked) => {
        const answer = await api.delete<object>(options, place);
        print(answer, options, () => `${done} ${asked}`);
      });
    },
  };
}
