import { type Command, InvalidArgumentError, Option } from "commander";
import { type ApiOptions, USUAL_URL } from "./connection.ts";
import { parseLevel } from "./level.ts";
import { terminal } from "./terminal.ts";
import { parseSpan, parseTime } from "./times.ts";

/**
 * An option and its environment variable: `--public-url` is also `BOX_PUBLIC_URL` (contract §11). `of` precedes the
 * variable's name where other commands have a flag of the same name with another meaning.
 */
export function flag(flags: string, description: string, of = ""): Option {
  const name = /--([a-z-]+)/.exec(flags)?.[1] ?? "";
  const twin = ["BOX", of, name].filter((part) => part !== "").join("_");
  return new Option(flags, description).env(twin.toUpperCase().replaceAll("-", "_"));
}

/** Adds such options: what each does, by how it is written. */
export function withFlags(command: Command, all: Readonly<Record<string, string>>): Command {
  for (const [flags, does] of Object.entries(all)) command.addOption(flag(flags, does));
  return command;
}

/** The flags of a database, which `what` names. */
export const databaseFlags = (what: string): Record<string, string> => ({
  "--database <url>": `${what}: postgres://user@host1,host2/name`,
  "--database-file <file>":
    "a file that contains the --database address; keeps its password out of ps",
  "--database-ca <file>": "trust only this authority for the database (PEM)",
});

export function dataFlag(): Option {
  return flag("--data <dir>", "data directory")
    .default("./box-data")
    .argParser((directory: string) => {
      if (directory !== "") return directory;
      throw new InvalidArgumentError("It must name a directory.");
    });
}

export function jsonFlag(): Option {
  return new Option("--json", "print one JSON object");
}

export function urlFlag(): Option {
  return flag("--url <url>", `address of the box (default: that of box login, or ${USUAL_URL})`);
}

/** Adds where a running box is, and the key. */
export function reachFlags(command: Command): Command {
  return command
    .addOption(urlFlag())
    .addOption(flag("--key <key>", "API key, ptk_… (default: the one that box login stored)"));
}

/** Adds the flags of commands that call a running box and print its answer, and those of this one. */
export function apiFlags(command: Command, own: Flags = {}): Command {
  reachFlags(command).addOption(jsonFlag());
  for (const [written, says] of Object.entries(own)) command.addOption(optionOf(written, says));
  return command;
}

function optionOf(written: string, says: FlagWords): Option {
  if (typeof says === "string") return readOption(written, says);
  if ("must" in says) return readOption(written, says.must).makeOptionMandatory();
  const { about, usual, choices, repeats = false, twin } = says;
  const option = twin === undefined ? readOption(written, about) : flag(written, about, twin);
  if (choices !== undefined) option.choices(choices);
  if (repeats) option.default([], "none").argParser((text, all: string[]) => [...all, text]);
  if (usual === undefined) return option;
  return option.default(option.parseArg?.(usual, undefined) ?? usual, `"${usual}"`);
}

/** How the words of a flag are read: `--until <time>`. */
const READERS: Readonly<Record<string, (flag: string, text: string) => number>> = {
  "<time>": parseTime,
  "<length>": parseSpan,
  "<span>": parseSpan,
  "<level>": (_flag, text) => parseLevel(text),
};

/** An option whose text is read as its word says. Throws CommandError for what can't be read. */
export function readOption(written: string, about: string): Option {
  const [long = "", word = ""] = written.split(" ");
  const option = new Option(written, about);
  const read = READERS[word];
  return read === undefined ? option : option.argParser((text) => read(long, text));
}

interface Says {
  about: string;
  usual?: string;
  choices?: readonly string[];
  /** Each time that it is given adds one. */
  repeats?: true;
  /** It has an environment variable, as `flag` says. */
  twin?: string;
}

type FlagWords = string | { must: string } | Says;

/** Flags of a command, by how they are written: what each says, and whether it must be given, has a usual value or may be repeated. */
export type Flags = Readonly<Record<string, FlagWords>>;

type Words<S> = S extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Words<Rest>>}` : S;
type NameOf<F> = F extends `--${infer Name} ${string}`
  ? Words<Name>
  : F extends `--${infer Name}`
    ? Words<Name>
    : never;
type ValueOf<F, Says> = F extends `${string}...>`
  ? string[]
  : Says extends { repeats: true }
    ? string[]
    : Says extends { choices: readonly (infer Choice)[] }
      ? Choice
      : F extends `${string}<${"time" | "length" | "span" | "level"}>`
        ? number
        : F extends `${string}>`
          ? string
          : F extends `${string}]`
            ? string | true
            : true;

type IsThere = { must: string } | { usual: string } | { repeats: true };

/** What such a command is given: `--by-rule` is `byRule`, true; `--event <kind...>` is a list of texts, `--new [days]` a text or true, `--from <time>` seconds. */
export type GivenBy<F extends Flags> = ApiOptions & {
  [K in keyof F as F[K] extends IsThere ? never : NameOf<K>]?: ValueOf<K, F[K]>;
} & { [K in keyof F as F[K] extends IsThere ? NameOf<K> : never]: ValueOf<K, F[K]> };

/** Prints an answer: as JSON with --json, else the text of `plain`. */
export function print(answer: object, options: { json?: boolean }, plain: () => string): void {
  const text = options.json ? JSON.stringify(answer) : plain();
  if (text !== "") terminal().stdout.write(`${text}\n`);
}
