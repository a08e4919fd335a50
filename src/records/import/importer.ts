import type { ConfigFileInput } from "../config-file/file.ts";
import type { GivenFile } from "./given-file.ts";
import type { LiveReader } from "./live.ts";

/**
 * Turns another system's export into a configuration file of the box. Pure: it gets the files and the time, reads
 * nothing else and applies nothing.
 */
export interface Importer {
  /** The name in commands: `alertmanager`. */
  system: string;
  /** The name in texts: `Alertmanager`. */
  title: string;
  /** Throws ImportFault where the files can't be read. */
  read(files: readonly GivenFile[], options: ImportOptions): Imported;
  /** Reads the files from the running system. */
  live: LiveReader;
}

export interface ImportOptions {
  now: number;
  /** The wanted name of the new project; null: the importer chooses. */
  project: string | null;
}

export interface Imported {
  config: ConfigFileInput;
  report: ImportLine[];
  /** The secrets that `config` refers to as `{env: NAME}`. */
  secrets: ImportedSecret[];
  /** Commands for what a configuration file can't hold, to run after it is applied, each quoted for a shell. */
  commands: string[];
}

/** A project of the file, as an importer writes it. */
export type ImportedProject = NonNullable<ConfigFileInput["projects"]>[number];

/** How one thing was imported. `what` names it in the other system's words; `how` is a sentence or two for people. */
export interface ImportLine {
  sort: "exact" | "approximate" | "impossible";
  what: string;
  how: string;
}

/** What an import says of each thing that it read. */
export class ImportReport {
  readonly lines: ImportLine[] = [];

  exact(what: string, how: string): void {
    this.lines.push({ sort: "exact", what, how });
  }

  nearly(what: string, how: string): void {
    this.lines.push({ sort: "approximate", what, how });
  }

  impossible(what: string, how: string): void {
    this.lines.push({ sort: "impossible", what, how });
  }

  /** The same, of one thing. */
  about(what: string) {
    return {
      exact: (how: string) => this.exact(what, how),
      nearly: (how: string) => this.nearly(what, how),
      impossible: (how: string) => this.impossible(what, how),
    };
  }
}

/** A credential for which the file names an environment variable. */
export interface ImportedSecret {
  env: string;
  /** null: it isn't in the export and must be entered. */
  value: string | null;
  /** What it is, and where to find it. */
  what: string;
}
