import type { ConfigFileInput } from "../config-file/file.ts";

/**
 * Another system's export as the box's own configuration file. Pure: files and the time are handed in, nothing is looked up,
 * and nothing is applied.
 */
export interface Importer {
  /** As it is typed: `alertmanager`. */
  system: string;
  /** As people call it: `Alertmanager`. */
  title: string;
  /** Throws ImportFault where the files can't be read. */
  read(files: readonly GivenFile[], options: ImportOptions): Imported;
}

/** A file as it was named, or as it was found below a folder that was. */
export interface GivenFile {
  name: string;
  text: string;
}

export interface ImportOptions {
  /** Unix seconds. */
  now: number;
  /** The name that was asked for of the project that is made; null: the importer's own choice. */
  project: string | null;
}

export interface Imported {
  config: ConfigFileInput;
  report: ImportLine[];
  /** What stands in `config` as `{env: NAME}`. */
  secrets: ImportedSecret[];
  /** What no configuration file holds, as commands to run once it is applied, each whole and quoted for a shell. */
  commands: string[];
}

/** A project of the file, as an importer writes it. */
export type ImportedProject = NonNullable<ConfigFileInput["projects"]>[number];

/** How one thing comes over. `what` names it in the other system's words, `how` is a sentence or two for a person. */
export interface ImportLine {
  sort: "exact" | "approximate" | "impossible";
  what: string;
  how: string;
}

/** A credential that the file names by a variable of the environment. */
export interface ImportedSecret {
  env: string;
  /** null: it isn't in the files that were given, and has to be entered. */
  value: string | null;
  /** What it is, and where to find it. */
  what: string;
}

/** What can't be read: a sentence that names the file and the place. */
export class ImportFault extends Error {}
