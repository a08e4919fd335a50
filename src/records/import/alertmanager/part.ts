import { fits, isStorable } from "../../../ground/kit/text.ts";
import { type ReadYaml, readYaml, YamlFault } from "../../config-file/yaml.ts";
import { type GivenFile, ImportFault } from "../given-file.ts";
import { AskedParts, below, type UnreadFields } from "./asked.ts";

/** A part of a YAML file; every scalar is text. Its errors name the file and line. */
export class Part {
  readonly #file: string;
  readonly #yaml: ReadYaml;
  readonly #pointer: string;
  readonly #asked: AskedParts;
  readonly value: unknown;

  constructor(
    { file, yaml, asked }: { file: string; yaml: ReadYaml; asked: AskedParts },
    { pointer, value }: { pointer: string; value: unknown },
  ) {
    this.#file = file;
    this.#yaml = yaml;
    this.#asked = asked;
    this.#pointer = pointer;
    this.value = value;
  }

  get isEmpty(): boolean {
    this.#asked.for(this.#pointer);
    return this.value === undefined || this.value === null || this.value === "";
  }

  /** Marks all of it as read, because the report mentions it as a whole. */
  leave(): this {
    this.#asked.leave(this.#pointer);
    return this;
  }

  /** The set fields that were never read, by their place. */
  unread(): UnreadFields[] {
    return this.#asked.rest(this.value);
  }

  fault(sentence: string): ImportFault {
    return new ImportFault(`${this.#file}: line ${this.#yaml.lineOf(this.#pointer)}: ${sentence}`);
  }

  /** A field by name; an empty part where it is missing. */
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
    const pointer = below(this.#pointer, name);
    return new Part({ file: this.#file, yaml: this.#yaml, asked: this.#asked }, { pointer, value });
  }

  #name(): string {
    return this.#pointer.replace(/^.*\/(?=[^/\d])/, "") || "the file";
  }
}

/** Returns the label's name. Throws ImportFault where the box doesn't allow it as a key. */
export function mustBeLabel(name: string, part: Part): string {
  if (name !== "" && fits(name, 256)) return name;
  throw part.fault(`"${name}" can't be a label's name`);
}

/** Throws ImportFault where the file isn't YAML. */
export function partOf({ name, text }: GivenFile): Part {
  try {
    const yaml = readYaml(text, { asText: true });
    return new Part(
      { file: name, yaml, asked: new AskedParts() },
      { pointer: "", value: yaml.value },
    );
  } catch (error) {
    if (error instanceof YamlFault) throw new ImportFault(`${name}: ${error.message}`);
    // YAML aliases of aliases that would fill the memory.
    if (error instanceof ReferenceError) throw new ImportFault(`${name}: ${error.message}`);
    throw error;
  }
}
