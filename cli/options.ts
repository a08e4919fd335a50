import { type Command, InvalidArgumentError, Option } from "commander";
import type { FlagName } from "../src/ground/kit/flags.ts";
import { type ApiOptions, USUAL_URL } from "./connection.ts";
import { parseLevel } from "./level.ts";
import { terminal } from "./terminal.ts";
import { parseSpan, parseTime } from "./times.ts";

/**
 * An option and its environment variable: `--public-url` is also `BOX_PUBLIC_URL` (contract §11). `of` precedes the
 * variable's name where other commands have a flag of the same name with another meaning.
 */
export function flag(flags: string, description: string, of = ""): Option {
  return withTwin(new Option(flags, description), of);
}

function withTwin(option: Option, of: string): Option {
  const twin = ["BOX", of, option.long?.slice(2)].filter(Boolean).join("_");
  return option.env(twin.toUpperCase().replaceAll("-", "_"));
}

/** Adds such options: what each does, by how it is written. */
export function withFlags(command: Command, all: Readonly<Record<string, string>>): Command {
  for (const [flags, does] of Object.entries(all)) command.addOption(flag(flags, does));
  return command;
}

export const dataFlag = {
  "--data <dir>": { about: "data directory", usual: "./box-data", twin: "" },
};

export const jsonFlag = { "--json": "print one JSON object" };

export const urlFlag = {
  "--url <url>": {
    about: `address of the box (default: that of box login, or ${USUAL_URL})`,
    twin: "",
  },
};

/** Where a running box is, and the key. */
export const reachFlags = {
  ...urlFlag,
  "--key <key>": { about: "API key, ptk_… (default: the one that box login stored)", twin: "" },
};

/** Adds flags to a command, in their order. */
export function addFlags(command: Command, flags: Flags): Command {
  for (const [written, says] of Object.entries(flags)) command.addOption(optionOf(written, says));
  return command;
}

/** Adds the flags of commands that call a running box and print its answer, and those of this one. */
export const apiFlags = (command: Command, own: Flags = {}): Command =>
  addFlags(command, { ...reachFlags, ...jsonFlag, ...own });

/** The same of commands that work on a data directory. */
export const offlineFlags = (command: Command, own: Flags = {}): Command =>
  addFlags(command, { ...dataFlag, ...jsonFlag, ...own });
export type OfflineOptions = FlagsGiven<typeof dataFlag & typeof jsonFlag>;

function optionOf(written: string, says: FlagWords): Option {
  if (typeof says === "string") return readOption(written, says);
  if ("must" in says) return readOption(written, says.must).makeOptionMandatory();
  const { about, usual, choices, repeats = false, twin } = says;
  const option = readOption(written, about);
  if (twin !== undefined) withTwin(option, twin);
  if (choices !== undefined) option.choices(choices);
  if (repeats) option.default([], "none").argParser((text, all: string[]) => [...all, text]);
  if (usual === undefined) return option;
  return option.default(option.parseArg?.(usual, undefined) ?? usual, `"${usual}"`);
}

/** How the words of a flag are read: `--until <time>`. */
const READERS: Readonly<Record<string, (flag: string, text: string) => number | string>> = {
  "<time>": parseTime,
  "<length>": parseSpan,
  "<span>": parseSpan,
  "<level>": (_flag, text) => parseLevel(text),
  "<dir>": (_flag, text) => {
    if (text !== "") return text;
    throw new InvalidArgumentError("It must name a directory.");
  },
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
            : F extends `--no-${string}`
              ? boolean
              : true;

type IsThere = { must: string } | { usual: string } | { repeats: true };

/** What such a command is given: `--by-rule` is `byRule`, true; `--no-lines` is `lines`, false; `--event <kind...>` is a list of texts, `--new [days]` a text or true, `--from <time>` seconds. */
export type FlagsGiven<F extends Flags> = {
  [K in keyof F as F[K] extends IsThere ? never : FlagName<K>]?: ValueOf<K, F[K]>;
} & { [K in keyof F as F[K] extends IsThere ? FlagName<K> : never]: ValueOf<K, F[K]> };

/** The same of a command with `apiFlags`. */
export type GivenBy<F extends Flags> = ApiOptions & FlagsGiven<F>;

/** Prints an answer: as JSON with --json, else the text of `plain`. */
export function print(answer: object, options: { json?: boolean }, plain: () => string): void {
  const text = options.json ? JSON.stringify(answer) : plain();
  if (text !== "") terminal().stdout.write(`${text}\n`);
}
