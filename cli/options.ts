import { type Command, InvalidArgumentError, Option } from "commander";
import type { Flags, FlagsGiven, FlagWords } from "../src/ground/kit/flags.ts";
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

/** Adds the flags of commands that work on a data directory. */
export const offlineFlags = (command: Command): Command =>
  addFlags(command, { ...dataFlag, ...jsonFlag });
export type OfflineOptions = FlagsGiven<typeof dataFlag & typeof jsonFlag>;

function optionOf(written: string, says: FlagWords): Option {
  if (typeof says === "string") return readOption(written, says);
  const { must, about = must ?? "", usual, choices, repeats = false, twin } = says;
  const option = readOption(written, about).makeOptionMandatory(must !== undefined);
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

/** The same of a command with `apiFlags`. */
export type GivenBy<F extends Flags> = ApiOptions & FlagsGiven<F>;

/** Prints an answer: as JSON with --json, else the text of `plain`. */
export function print(answer: object, options: { json?: boolean }, plain: () => string): void {
  const text = options.json ? JSON.stringify(answer) : plain();
  if (text !== "") terminal().stdout.write(`${text}\n`);
}
