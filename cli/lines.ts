import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { eventLimits } from "../src/in/ingest/event.ts";

/** The rest of a longer line is dropped: a file without line ends must not fill the memory. */
const MOST_CHARS = eventLimits.message * 2 + 2;

/**
 * The lines of a stream, in one group for each read; a group may be empty. Lines end with LF, CR LF or CR; the last one
 * may have no end. Empty lines are left out.
 */
export async function* lineGroups(input: Readable): AsyncGenerator<string[]> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of input) {
    const text = rest + (typeof chunk === "string" ? chunk : decoder.write(chunk as Buffer));
    // A CR at the very end may be half of CR LF.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    rest = (lines.pop() ?? "").slice(0, MOST_CHARS);
    yield lines.filter(isEvent);
  }
  const last = rest + decoder.end();
  yield last.split("\r").filter(isEvent);
}

function isEvent(line: string): boolean {
  return line.trim() !== "";
}
