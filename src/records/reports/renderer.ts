import { threadSource } from "../../ground/kit/assets.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import {
  createWorkThread,
  type ThreadOptions,
  type ThreadSource,
} from "../../ground/kit/thread.ts";
import type { RenderHow } from "./render.ts";
import type { RenderResult, RenderWork } from "./render-worker.ts";

type RendererOptions = Partial<ThreadOptions> & Pick<ThreadOptions, "source" | "clock">;

export interface Rendered {
  html: string;
  dropped: string[];
}

export type Renderer = ReturnType<typeof createRenderer>;

/** The thread's code: a file beside this one, or inside the executable. */
export function workerSource(): ThreadSource {
  return threadSource("src/records/reports/render-worker.ts");
}

/**
 * Renders Markdown in one thread, which is ended when a text takes too long. Some short texts take minutes, and that
 * must never delay a page (contract §8).
 */
export function createRenderer(options: RendererOptions) {
  const thread = createWorkThread({ deadlineMs: 2_000, heapMb: 64, longestQueue: 8, ...options });
  const rendered = async (markdown: string, how: RenderHow = {}): Promise<Rendered> => {
    const heard = await thread.ask({ markdown, how } satisfies RenderWork);
    if ("said" in heard) return renderedOf(heard.said as RenderResult);
    if (heard.ended === "busy" || heard.ended === "closed") throw overloaded();
    if (heard.ended === "late" || heard.ended === "heap") throw tooComplex();
    throw new Error(`the renderer failed: ${heard.ended}`);
  };
  return {
    /**
     * Markdown as safe HTML, at most 1 MiB long. Throws `ServiceError`: content_too_complex (400) beyond the time, the
     * heap or that length; overloaded (429) when too many texts wait, or after `close`.
     */
    render: async (markdown: string, how?: RenderHow) => (await rendered(markdown, how)).html,
    /** Like `render`; `dropped` lists what was left out: `image`, `<script>`, `link`. */
    preview: (markdown: string) => rendered(markdown),
    /** Ends the thread. Waiting texts are refused as overloaded. */
    close: () => thread.close(),
  };
}

function renderedOf(result: RenderResult): Rendered {
  if ("html" in result) return result;
  if ("refused" in result) throw tooComplex();
  throw new Error(`the renderer failed: ${result.failed}`);
}

function tooComplex(): ServiceError {
  return new ServiceError("content_too_complex", "This Markdown takes too long to render.", {
    details: [{ field: "/content_md", reason: "too_complex" }],
  });
}

function overloaded(): ServiceError {
  return new ServiceError("overloaded", "Too many texts wait to be rendered.", { retryAfter: 2 });
}
