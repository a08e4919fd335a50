/**
 * What kept lines of one template have in common. A line that has an outline is stored as what differs, and read as it
 * was, to the character: nothing here knows what a message means.
 */

/** The texts of a line, keys and tags as JSON. */
export interface LineTexts {
  message: string;
  keys: string | null;
  tags: string | null;
}

/** A text without its variable parts: what stands before the first, between two, and after the last. */
type Fixed = readonly string[];

export interface Outline {
  message: Fixed;
  keys: Fixed | null;
  tags: Fixed | null;
}

const FIELDS = ["message", "keys", "tags"] as const;
/** A variable part is all that stands between two of these. */
const ENDS = { message: " ", keys: '"', tags: '"' } as const;

/** The outline of a line alone: nothing in it varies. */
export function wholeOutline({ message, keys, tags }: LineTexts): Outline {
  return {
    message: [message],
    keys: keys === null ? null : [keys],
    tags: tags === null ? null : [tags],
  };
}

/** The line's variable parts; null where the line has another outline. */
export function variablePartsOf(outline: Outline, line: LineTexts): LineTexts | null {
  const message = partsOf(outline.message, line.message, ENDS.message);
  if (message === null) return null;
  const values: LineTexts = { message, keys: null, tags: null };
  for (const field of ["keys", "tags"] as const) {
    const [fixed, text] = [outline[field], line[field]];
    if (fixed === null || text === null) {
      if (fixed !== text) return null;
      continue;
    }
    const parts = partsOf(fixed, text, ENDS[field]);
    if (parts === null) return null;
    if (fixed.length > 1) values[field] = parts;
  }
  return values;
}

/** The line that has this outline and these variable parts. */
export function lineOf(outline: Outline, values: LineTexts): LineTexts {
  const { keys, tags } = outline;
  return {
    message: lineMessage(outline, values),
    keys: keys === null ? null : filled(keys, values.keys ?? "", ENDS.keys),
    tags: tags === null ? null : filled(tags, values.tags ?? "", ENDS.tags),
  };
}

/** Of the same line. */
export function lineMessage(outline: Outline, { message }: LineTexts): string {
  return filled(outline.message, message, ENDS.message);
}

/** How many parts each text has: lines of which that differs have no common outline. */
export function partsIn(line: LineTexts): string {
  return String(FIELDS.map((field) => line[field]?.split(ENDS[field]).length ?? 0));
}

/** In the place of a variable part. A line that has it there too only gets a narrower outline. */
const VARIES = "\0";

/** The outline of both, variable wherever they differ; null where they haven't equally many parts. */
export function widened(outline: Outline, line: LineTexts): Outline | null {
  const common: { [field in keyof Outline]: string[] | null } = { message: [], keys: [], tags: [] };
  for (const field of FIELDS) {
    const [fixed, text] = [outline[field], line[field]];
    if (fixed === null || text === null) {
      if (fixed !== text) return null;
      common[field] = null;
      continue;
    }
    const end = ENDS[field];
    const both = commonOf(fixed.join(VARIES), text, end);
    if (both === null) return null;
    common[field] = both;
  }
  return common as Outline;
}

/** Characters that a line of this outline needn't have. */
export function savedBy({ message, keys, tags }: Outline): number {
  const length = (fixed: Fixed | null) => fixed?.reduce((sum, { length }) => sum + length, 0) ?? 0;
  return length(message) + length(keys) + length(tags);
}

function partsOf(fixed: Fixed, text: string, end: string): string | null {
  let values = "";
  let at = 0;
  for (let i = 0; i < fixed.length; i++) {
    if (i > 0) {
      const found = text.indexOf(end, at);
      const until = found === -1 ? text.length : found;
      values += i > 1 ? end + text.slice(at, until) : text.slice(at, until);
      at = until;
    }
    const part = fixed[i] as string;
    if (!text.startsWith(part, at)) return null;
    at += part.length;
  }
  return at === text.length ? values : null;
}

function filled(fixed: Fixed, values: string, end: string): string {
  let text = fixed[0] as string;
  let at = 0;
  for (let i = 1; i < fixed.length; i++) {
    const found = values.indexOf(end, at);
    const until = found === -1 ? values.length : found;
    text += values.slice(at, until) + (fixed[i] as string);
    at = until + end.length;
  }
  return text;
}

function commonOf(text: string, other: string, end: string): string[] | null {
  const [some, others] = [text.split(end), other.split(end)];
  if (some.length !== others.length) return null;
  const fixed = [""];
  for (const [i, part] of some.entries()) {
    const before = i === 0 ? "" : end;
    const isFixed = part === others[i] && !part.includes(VARIES);
    fixed[fixed.length - 1] += before + (isFixed ? part : "");
    if (!isFixed) fixed.push("");
  }
  return fixed;
}
