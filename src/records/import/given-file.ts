/** A file by the name that was given, or by its name inside a given folder. */
export interface GivenFile {
  name: string;
  text: string;
}

/** An export that can't be read. The message names the file and the place. */
export class ImportFault extends Error {}
