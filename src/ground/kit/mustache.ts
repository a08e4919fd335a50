/**
 * Mustache (mustache.5) for templates that people write and that strangers' data fills: values, sections, inverted
 * sections, comments and dotted names. It escapes nothing: the code that sends the text does. There are no partials,
 * lambdas or other delimiters. Only own fields of plain data are read, and both work and output are bounded.
 */
export interface TextTemplate {
  /** The text, cut after about `most` characters. Throws RangeError where it takes too much work. */
  render(view: object, most: number): string;
}

/** A fault of a template and its place: line and column, from 1. */
export class TemplateFault extends Error {
  readonly line: number;
  readonly column: number;
  constructor(text: string, at: number, why: string) {
    const before = text.slice(0, at).split("\n");
    const [line, column] = [before.length, (before.at(-1) ?? "").length + 1];
    super(`line ${line}, column ${column}: ${why}`);
    this.line = line;
    this.column = column;
  }
}

type Name = readonly string[];
type Part = string | { name: Name } | { name: Name; inverted: boolean; parts: Part[] };

interface Open {
  parts: Part[];
  /** The section that is open; null outside of all sections. */
  section: { written: string; at: number } | null;
}

const MOST_TAGS = 200;
const DEEPEST = 8;
const LONGEST_NAME = 128;
const MOST_STEPS = 5_000;

/** `fields`: the allowed first parts of names. Throws TemplateFault. */
export function compileTemplate(text: string, fields: ReadonlySet<string>): TextTemplate {
  const parts = parse(text, fields);
  return {
    render(view, most) {
      const output = { text: "", steps: 0, most };
      write(parts, [view], output);
      return output.text;
    },
  };
}

function parse(text: string, fields: ReadonlySet<string>): Part[] {
  const stack: Open[] = [{ parts: [], section: null }];
  let at = 0;
  for (let tags = 1; ; tags++) {
    const top = stack.at(-1) as Open;
    const start = text.indexOf("{{", at);
    if (start === -1) {
      top.parts.push(text.slice(at));
      break;
    }
    if (tags > MOST_TAGS) throw new TemplateFault(text, start, `more than ${MOST_TAGS} tags`);
    const tag = readTag(text, start);
    const alone = tag.sigil !== "" && tag.sigil !== "&" ? aloneOnLine(text, start, tag.end) : null;
    top.parts.push(text.slice(at, alone?.start ?? start));
    at = alone?.end ?? tag.end;
    take(tag, { text, fields, stack });
  }
  const open = stack.at(-1)?.section ?? null;
  if (open !== null)
    throw new TemplateFault(text, open.at, `section "${open.written}" is never closed`);
  return stack[0]?.parts ?? [];
}

interface Tag {
  sigil: string;
  written: string;
  at: number;
  end: number;
}

function readTag(text: string, start: number): Tag {
  const isTriple = text.startsWith("{{{", start);
  const close = isTriple ? "}}}" : "}}";
  const from = start + close.length;
  const end = text.indexOf(close, from);
  if (end === -1) throw new TemplateFault(text, start, "a tag is never closed");
  const inner = text.slice(from, end);
  const sigil = isTriple ? "&" : (/^\s*([#^/!>=&])/.exec(inner)?.[1] ?? "");
  const written = inner.replace(/^\s*[#^/!>=&]?/, "").trim();
  return { sigil, written, at: start, end: end + close.length };
}

/** A tag of a section or comment that has a line to itself leaves no empty line. */
function aloneOnLine(
  text: string,
  start: number,
  end: number,
): { start: number; end: number } | null {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const after = /^[ \t]*(?:\r?\n|$)/.exec(text.slice(end));
  const isAlone = after !== null && /^[ \t]*$/.test(text.slice(start === 0 ? 0 : lineStart, start));
  return isAlone ? { start: start === 0 ? 0 : lineStart, end: end + after[0].length } : null;
}

function take(
  { sigil, written, at }: Tag,
  { text, fields, stack }: { text: string; fields: ReadonlySet<string>; stack: Open[] },
): void {
  const top = stack.at(-1) as Open;
  if (sigil === "!") return;
  if (sigil === ">" || sigil === "=") {
    const what = sigil === ">" ? "partials" : "other delimiters";
    throw new TemplateFault(text, at, `there are no ${what} here`);
  }
  if (sigil === "/") {
    const wanted = top.section?.written;
    if (wanted !== written) {
      const why = wanted === undefined ? "no section is open" : `section "${wanted}" is open`;
      throw new TemplateFault(text, at, `"${written.slice(0, 60)}" is closed, but ${why}`);
    }
    stack.pop();
    return;
  }
  const name = nameOf(written, fields);
  if (name === null)
    throw new TemplateFault(text, at, `"${written.slice(0, 60)}" is no field of an event`);
  if (sigil === "" || sigil === "&") {
    top.parts.push({ name });
    return;
  }
  if (stack.length > DEEPEST)
    throw new TemplateFault(text, at, `sections stand more than ${DEEPEST} deep`);
  const parts: Part[] = [];
  top.parts.push({ name, inverted: sigil === "^", parts });
  stack.push({ parts, section: { written, at } });
}

/** [] for `.`, the section's own value; null for a name that is no field. */
function nameOf(written: string, fields: ReadonlySet<string>): Name | null {
  if (written === ".") return [];
  const name = written.split(".");
  const isName = written.length <= LONGEST_NAME && !/[{}]/.test(written) && !name.includes("");
  return isName && fields.has(name[0] ?? "") ? name : null;
}

interface Output {
  text: string;
  steps: number;
  most: number;
}

function write(parts: readonly Part[], stack: readonly unknown[], output: Output): void {
  for (const part of parts) {
    output.steps += 1;
    if (output.steps > MOST_STEPS) throw new RangeError("the template takes too much work");
    if (output.text.length >= output.most) return;
    if (typeof part === "string") add(output, part);
    else if ("parts" in part) writeSection(part, stack, output);
    else add(output, textOf(find(part.name, stack)));
  }
}

function writeSection(
  { name, inverted, parts }: { name: Name; inverted: boolean; parts: readonly Part[] },
  stack: readonly unknown[],
  output: Output,
): void {
  const value = find(name, stack);
  const isNone = !value || (Array.isArray(value) && value.length === 0);
  if (inverted || isNone) {
    if (inverted && isNone) write(parts, stack, output);
    return;
  }
  for (const item of Array.isArray(value) ? value : [value]) {
    output.steps += 1;
    write(parts, item === true ? stack : [...stack, item], output);
  }
}

function add(output: Output, text: string): void {
  const whole = output.text + text.slice(0, output.most + 1);
  const { most } = output;
  output.text = whole.length <= most ? whole : whole.slice(0, most).replace(/[\ud800-\udbff]$/, "");
}

/** The first part is looked up from the innermost section outwards, the other parts in the value found. */
function find([first, ...rest]: Name, stack: readonly unknown[]): unknown {
  if (first === undefined) return stack.at(-1);
  const holder = stack.findLast((one) => isHolder(one) && Object.hasOwn(one, first));
  let value: unknown = fieldOf(holder, first);
  for (const part of rest) value = fieldOf(value, part);
  return value;
}

function fieldOf(holder: unknown, name: string): unknown {
  return isHolder(holder) && Object.hasOwn(holder, name)
    ? (holder as Record<string, unknown>)[name]
    : undefined;
}

function isHolder(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}
