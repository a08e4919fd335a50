import { type Command, InvalidArgumentError, Option } from "commander";
import { type ApiOptions, USUAL_URL } from "./connection.ts";
import { terminal } from "./terminal.ts";

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
  for (const [written, says] of Object.entries(own))
    if (typeof says === "string") command.option(written, says);
    else if ("must" in says) command.requiredOption(written, says.must);
    else command.option(written, says.about, says.usual);
  return command;
}

/** Flags of a command, by how they are written: what each says, and whether it must be given or has a usual value. */
export type Flags = Readonly<
  Record<string, string | { must: string } | { about: string; usual: string }>
>;

type Words<S> = S extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Words<Rest>>}` : S;
type NameOf<F> = F extends `--${infer Name} ${string}`
  ? Words<Name>
  : F extends `--${infer Name}`
    ? Words<Name>
    : never;
type ValueOf<F> = F extends `${string}...>`
  ? string[]
  : F extends `${string}>`
    ? string
    : F extends `${string}]`
      ? string | true
      : true;

/** What such a command is given: `--by-rule` is `byRule`, true; `--event <kind...>` is a list of texts, `--new [days]` a text or true. */
export type GivenBy<F extends Flags> = ApiOptions & {
  [K in keyof F as F[K] extends string ? NameOf<K> : never]?: ValueOf<K>;
} & { [K in keyof F as F[K] extends string ? never : NameOf<K>]: ValueOf<K> };

/** Prints an answer: as JSON with --json, else the text of `plain`. */
export function print(answer: object, options: { json?: boolean }, plain: () => string): void {
  const text = options.json ? JSON.stringify(answer) : plain();
  if (text !== "") terminal().stdout.write(`${text}\n`);
}
