/**
 * The thread that renders Markdown. It sends `ready` once its code is loaded, and then a `RenderResult` for each
 * `RenderWork`. It runs as a file, or from text where the program is one file (see renderer.ts).
 */
import { parentPort } from "node:worker_threads";
import { stepBack } from "../../ground/kit/step-back.ts";
import { type RenderHow, renderMarkdown } from "./render.ts";

/** The HTML, or why there is none: the text is too deep or too long, or rendering failed. */
export type RenderResult =
  | { html: string; dropped: string[] }
  | { refused: "too_complex" }
  | { failed: string };

export interface RenderWork {
  markdown: string;
  how: RenderHow;
}

/** Longest HTML that is kept, in UTF-16 units. 64 Ki of Markdown can become 885 KB. */
const LONGEST_HTML = 1_048_576;

/** Renders one text. Never throws. */
function renderResult(markdown: string, how: RenderHow = {}): RenderResult {
  try {
    const dropped = new Set<string>();
    const html = renderMarkdown(markdown, { ...how, dropped });
    if (html.length > LONGEST_HTML) return { refused: "too_complex" };
    return { html, dropped: [...dropped] };
  } catch (error) {
    // The text was nested too deeply for the stack.
    if (error instanceof RangeError) return { refused: "too_complex" };
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}

if (parentPort !== null) {
  const port = parentPort;
  stepBack();
  port.on("message", ({ markdown, how }: RenderWork) =>
    port.postMessage(renderResult(markdown, how)),
  );
  port.postMessage("ready");
}
