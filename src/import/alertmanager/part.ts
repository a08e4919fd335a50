import { type ReadYaml, readYaml, YamlFault } from "../../config-file/yaml.ts";
import { fits, isStorable } from "../../kit/text.ts";
import { type GivenFile, ImportFault } from "../importer.ts";

/** A part of a YAML file, every scalar of which is text. What is wrong with it is told with its file and line. */
export class Part {
  readonly #file: string;
  readonly #yaml: ReadYaml;
  readonly #pointer: string;
  readonly value: unknown;

  constructor(
    file: string,
    yaml: ReadYaml,
    { pointer, value }: { pointer: string; value: unknown },
  ) {
    this.#file = file;
    this.#yaml = yaml;
    this.#pointer = pointer;
    this.value = value;
  }

  /** Nothing is there, or nothing but its name. */
  get isEmpty(): boolean {
    return this.value === undefined || this.value === null || this.value === "";
  }

  fault(sentence: string): ImportFault {
    return new ImportFault(`${this.#file}: line ${this.#yaml.lineOf(this.#pointer)}: ${sentence}`);
  }

  /** A field by name; an empty part where there is none. */
  field(name: string): Part {
    const value = this.#record()[name];
    return this.#below(name, Object.hasOwn(this.#record(), name) ? value : undefined);
  }

  fields(): [name: string, part: Part][] {
    return Object.entries(this.#record()).map(([name, value]) => [name, this.#below(name, value)]);
  }

  list(): Part[] {
    if (this.isEmpty) return [];
    if (!Array.isArray(this.value)) throw this.fault(`${this.#name()} must be a list`);
    return this.value.map((value, i) => this.#below(String(i), value));
  }

  /** The text; "" where there is none. */
  text(): string {
    if (this.isEmpty) return "";
    if (typeof this.value !== "string") throw this.fault(`${this.#name()} must be a text`);
    if (!isStorable(this.value))
      throw this.fault(`${this.#name()} holds a character that can't be stored`);
    return this.value;
  }

  texts(): string[] {
    return this.list().map((part) => part.text());
  }

  /** A list of labels' names. */
  labels(): string[] {
    return this.list().map((part) => mustBeLabel(part.text(), part));
  }

  flag(usual: boolean): boolean {
    return this.isEmpty ? usual : /^(true|yes|on|y)$/i.test(this.text());
  }

  #record(): Record<string, unknown> {
    if (this.isEmpty) return {};
    if (typeof this.value !== "object" || Array.isArray(this.value))
      throw this.fault(`${this.#name()} must have fields`);
    return this.value as Record<string, unknown>;
  }

  #below(name: string, value: unknown): Part {
    const pointer = `${this.#pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return new Part(this.#file, this.#yaml, { pointer, value });
  }

  #name(): string {
    return this.#pointer.replace(/^.*\/(?=[^/\d])/, "") || "the file";
  }
}

/** A label's name as it is. Throws ImportFault where the box takes no such key. */
export function mustBeLabel(name: string, part: Part): string {
  if (name !== "" && fits(name, 256)) return name;
  throw part.fault(`"${name}" can't be a label's name`);
}

/** Throws ImportFault where the file is no YAML. */
export function partOf({ name, text }: GivenFile): Part {
  try {
    const yaml = readYaml(text, { asText: true });
    return new Part(name, yaml, { pointer: "", value: yaml.value });
  } catch (error) {
    if (error instanceof YamlFault) throw new ImportFault(`${name}: ${error.message}`);
    // Aliases of aliases that would fill the memory.
    if (error instanceof ReferenceError) throw new ImportFault(`${name}: ${error.message}`);
    throw error;
  }
}
