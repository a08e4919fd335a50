import type { Reader, Tx } from "../../ground/store/store.ts";
import {
  type LineTexts,
  lineMessage,
  lineOf,
  type Outline,
  partsIn,
  savedBy,
  variablePartsOf,
  wholeOutline,
  widened,
} from "./outline.ts";

/** Lines of one block: log_blocks refers to blocks, so that lines need no index but their id. */
export const BLOCK_LINES = 1024;

/** The texts of a line as its row has them. */
export interface StoredLine extends LineTexts {
  id: number;
  /** Empty where the line has an outline, which is of one template. */
  template_id: string;
  /** The remainder of the id of the block's line that had its outline first; null: the texts are whole. */
  outline: number | null;
}

/** Outlines of one template in a block, and how many characters a line has that is looked at for one. */
const MOST_OUTLINES = 8;
const MOST_CHARS = 2_000;
/** Lines that are compared before an outline is written, and characters that it has to save each later one. */
const COMPARED = 3;
const LEAST_SAVED = 12;
/** An outline that so many lines of a block had is taken on into the next. */
const TAKEN_ON = 3;

interface Known {
  outline: Outline;
  /** null: not yet written in this block. */
  id: number | null;
  lines: number;
}

/** What is known of a template's lines in the present block. */
interface Kind {
  known: Known[];
  /** What lines without an outline had in common so far, by how many parts they have. */
  common: Map<string, { outline: Outline; lines: number }>;
}

type StoredOutline = Outline & { template: string };

const INSERT = "INSERT OR REPLACE INTO line_outlines (id, project_id, outline) VALUES (?, ?, ?)";

/** Finds outlines of lines that come, and writes each once a block. */
export function createLineOutlines() {
  let kinds = new Map<string, Kind>();
  let block = -1;

  const nextBlock = (here: number) => {
    block = here;
    const before = kinds;
    kinds = new Map();
    for (const [name, { known }] of before) {
      const used = known.filter(({ lines }) => lines >= TAKEN_ON);
      if (used.length === 0) continue;
      const taken = used.map(({ outline }) => ({ outline, id: null, lines: 0 }));
      kinds.set(name, { known: taken, common: new Map() });
    }
  };

  return {
    /** How the line with this id is stored. Ids rise. */
    store(
      tx: Tx,
      { id, projectId, templateId }: { id: number; projectId: number; templateId: string },
      texts: LineTexts,
    ): StoredLine {
      const here = Math.floor(id / BLOCK_LINES);
      if (here !== block) nextBlock(here);
      const whole = { ...texts, id, template_id: templateId, outline: null };
      if (charsOf(texts) > MOST_CHARS) return whole;
      const name = `${projectId}:${templateId}`;
      const kind: Kind = kinds.get(name) ?? { known: [], common: new Map() };
      kinds.set(name, kind);
      const write = (outline: Outline) => {
        const stored: StoredOutline = { ...outline, template: templateId };
        tx.sql<[id: number, projectId: number, outline: string]>(INSERT).run(
          id,
          projectId,
          JSON.stringify(stored),
        );
      };
      for (const known of kind.known) {
        const values = variablePartsOf(known.outline, texts);
        if (values === null) continue;
        known.lines++;
        if (known.id === null) {
          known.id = id;
          write(known.outline);
        }
        return { ...values, id, template_id: "", outline: known.id % BLOCK_LINES };
      }
      const outline = learned(kind, texts);
      const values = outline && variablePartsOf(outline, texts);
      if (outline === null || values === null) return whole;
      kind.known.push({ outline, id, lines: 1 });
      write(outline);
      return { ...values, id, template_id: "", outline: id % BLOCK_LINES };
    },
    clear() {
      kinds = new Map();
      block = -1;
    },
  };
}

/** An outline that is worth being written, of lines that had none. */
function learned({ known, common }: Kind, texts: LineTexts): Outline | null {
  if (known.length >= MOST_OUTLINES) return null;
  const parts = partsIn(texts);
  const before = common.get(parts);
  const outline = before && widened(before.outline, texts);
  if (!outline) {
    if (common.size < MOST_OUTLINES) common.set(parts, { outline: wholeOutline(texts), lines: 1 });
    return null;
  }
  const lines = before.lines + 1;
  common.set(parts, { outline, lines });
  return lines < COMPARED || savedBy(outline) < LEAST_SAVED ? null : outline;
}

function charsOf({ message, keys, tags }: LineTexts): number {
  return message.length + (keys?.length ?? 0) + (tags?.length ?? 0);
}

const OUTLINE = "SELECT outline FROM line_outlines WHERE id = ?";

/** What stored lines say. Each outline is read once a block, and no other block's are held. */
interface LineReader {
  /** The line with its template and its texts, which are written into it. */
  whole<Line extends StoredLine>(line: Line): Line;
  /** Its message alone: a search asks for many and takes few. */
  message(line: StoredLine): string;
}

export function lineReader(reader: Pick<Reader, "sql">): LineReader {
  const known = new Map<number, StoredOutline>();
  let block = -1;
  const read = reader.sql<[id: number], string>(OUTLINE).pluck();
  const outlineOf = (line: StoredLine): StoredOutline | null => {
    if (line.outline === null) return null;
    const first = line.id - (line.id % BLOCK_LINES);
    if (first !== block) known.clear();
    block = first;
    const id = first + line.outline;
    let outline = known.get(id);
    if (outline === undefined) {
      outline = JSON.parse(read.get(id) as string) as StoredOutline;
      known.set(id, outline);
    }
    return outline;
  };
  return {
    whole(line) {
      const outline = outlineOf(line);
      if (outline === null) return line;
      const texts = lineOf(outline, line);
      return Object.assign(line, texts, { template_id: outline.template, outline: null });
    },
    message(line) {
      const outline = outlineOf(line);
      return outline === null ? line.message : lineMessage(outline, line);
    },
  };
}
