/** A small server with pages made by hand, as a console's script is meant to find them. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { assets } from "../../../src/web/console/assets.ts";

/** The policy of the box's own pages, word for word. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types box",
].join("; ");

/** One request for sections, or one form that came. */
export interface Heard {
  method: string;
  path: string;
  sections: string;
  rows: string;
  body: string;
  /** When, by the monotonic clock. */
  at: number;
}

export interface Answer {
  status?: number;
  body: string;
  headers?: Record<string, string>;
}

export interface Scene {
  origin: string;
  heard: Heard[];
  /** A page's sections by id, inner markup; each is live on the topic of its own name. */
  sections: Record<string, string>;
  /** What a section is live on, where that isn't its name. */
  topics: Record<string, string>;
  /** Further attributes of a section. */
  attributes: Record<string, string>;
  /** What a form's address answers. */
  forms: Record<string, (body: URLSearchParams) => Answer | Promise<Answer>>;
  /** The box's clock, unix milliseconds. */
  now(): number;
  /** Attributes of `<html>`, and of what stands beside `main`. */
  frame: { html: string; beside: string };
  /** Tells whoever follows, once `late` has come where it is set; the change as the stream counts it. */
  change(...topics: string[]): string;
  late: Promise<void> | null;
  /** Who follows by the stream, now. */
  readonly following: number;
  /** What the latest of them wants to be told of. */
  watch: string;
  /** As a box does that stops: whoever follows is told, or not, and nobody comes in. */
  down(how: "bye" | "gone"): void;
  up(): Promise<void>;
  /** Takes no streams from now on. */
  noStreams(): void;
  close(): void;
}

/** `base` is where a proxy would have mounted it. */
export async function openScene(base = ""): Promise<Scene> {
  /** With the names that each wants to be told. */
  const streams = new Map<ServerResponse, Set<string>>();
  const told: string[][] = [];
  const parked = new Set<() => void>();
  let boot = 1;
  let takesStreams = true;
  let port = 0;
  const scene: Scene = {
    origin: "",
    heard: [],
    sections: {},
    topics: {},
    attributes: {},
    forms: {},
    late: null,
    watch: "",
    now: () => Date.now(),
    frame: { html: "", beside: "" },
    get following() {
      return streams.size;
    },
    change(...topics) {
      told.push(topics);
      const at = id();
      const tell = () => {
        for (const [stream, names] of streams)
          if (topics.some((topic) => names.has(topic))) say(stream, topics, at);
        for (const go of [...parked]) go();
      };
      if (scene.late === null) tell();
      else void scene.late.then(tell);
      return at;
    },
    down(how) {
      for (const stream of streams.keys()) {
        if (how === "bye") stream.write("event: bye\ndata: {}\n\n");
        stream.end();
      }
      shut();
    },
    async up() {
      boot += 1;
      told.length = 0;
      await listen();
    },
    noStreams() {
      takesStreams = false;
      for (const stream of streams.keys()) stream.destroy();
    },
    close() {
      for (const stream of streams.keys()) stream.destroy();
      shut();
    },
  };
  // A browser opens connections ahead: nobody waits for their end.
  const shut = () => {
    server.close();
    server.closeAllConnections();
  };
  const id = () => `${boot}-${told.length}`;
  const say = (stream: ServerResponse, topics: string[], at = id()) =>
    stream.write(`id: ${at}\nevent: change\ndata: ${JSON.stringify({ topics })}\n\n`);
  const missed = (since: string) => {
    const [of, at] = since.split("-");
    return Number(of) === boot ? told.slice(Number(at)).flat() : null;
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.destroy(error));
  });
  const listen = async () => {
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    ({ port } = server.address() as AddressInfo);
  };
  await listen();
  scene.origin = `http://127.0.0.1:${port}${base}`;
  return scene;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://x");
    const path = pathname.slice(base.length);
    if (path.startsWith("/assets/")) return sendAsset(path, response);
    if (path === "/favicon.ico") return void response.writeHead(204).end();
    if (path === "/live") return live(request, response, searchParams);
    const body = request.method === "POST" ? await text(request) : "";
    const sections = String(request.headers["x-sections"] ?? "");
    const at = performance.now();
    const heard = { method: request.method ?? "", path: path, sections, body, at };
    scene.heard.push({ ...heard, rows: String(request.headers["x-rows"] ?? "") });
    const form = request.method === "POST" ? scene.forms[path] : undefined;
    const done = form ? await form(new URLSearchParams(body)) : shown(path, sections);
    response.writeHead(done.status ?? 200, {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": POLICY,
      "referrer-policy": "same-origin",
      "cache-control": "private, no-cache",
      ...(sections !== "" && form === undefined ? { "x-since": id() } : {}),
      ...done.headers,
    });
    response.end(done.body);
  }

  async function sendAsset(path: string, response: ServerResponse): Promise<void> {
    const found = assets().serve(path, "gzip");
    if (found === null) return void response.writeHead(404).end();
    response.writeHead(200, Object.fromEntries(found.headers));
    response.end(Buffer.from(await found.arrayBuffer()));
  }

  function live(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): void {
    if (request.headers.accept?.includes("text/event-stream")) {
      if (!takesStreams) return void response.writeHead(429).end();
      response.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
      response.write("retry: 2000\n\n");
      const late = missed(String(request.headers["last-event-id"] ?? ""));
      if (late === null) response.write(`id: ${id()}\nevent: reset\ndata: {}\n\n`);
      else if (late.length > 0) say(response, late);
      scene.watch = query.get("watch") ?? "";
      streams.set(response, new Set(scene.watch.split(",")));
      response.once("close", () => streams.delete(response));
      return;
    }
    const since = query.get("since") ?? "";
    const go = () => {
      parked.delete(go);
      const late = missed(since);
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ next: id(), reset: late === null, topics: late ?? [] }));
    };
    const isNews = missed(since)?.length !== 0;
    if (isNews || query.get("wait") === "0") {
      go();
      return;
    }
    parked.add(go);
    response.once("close", () => parked.delete(go));
  }

  function shown(path: string, sections: string): Answer {
    if (sections !== "") return { body: drawn(sections.split(",")) };
    if (path !== "/page") return { body: page(`<h1>${path}</h1>`) };
    return { body: page(`<h1>Page</h1>${drawn(Object.keys(scene.sections))}`) };
  }

  function drawn(ids: readonly string[]): string {
    return ids
      .filter((one) => one in scene.sections)
      .map((one) => {
        const more = scene.attributes[one] ?? "";
        return `<section id="${one}" data-live="${scene.topics[one] ?? one}" ${more}>${scene.sections[one]}</section>`;
      })
      .join("\n");
  }

  function page(main: string): string {
    const { style, script } = assets();
    return `<!doctype html>
<html lang="en" data-base="${base}" data-zone="UTC" data-now="${Math.floor(scene.now())}" data-since="${id()}" ${scene.frame.html}>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>A page</title><link rel="stylesheet" href="${base}${style}"><script type="module" src="${base}${script}"></script></head>
<body class="frame"><a class="skip" href="#main">To the content</a><div id="bar" class="bar" role="status"></div>
<nav class="nav" aria-label="Main"><a class="nav-item" href="${base}/page" data-key="g a">Page</a>
<a class="nav-item" href="${base}/other" data-key="g o">Other</a>
<a class="nav-item" href="${base}/search" data-palette data-key="/">Search</a></nav>
<div class="main"><main id="main" tabindex="-1">${main}</main>${scene.frame.beside}<output id="said" class="said" role="status"></output></div></body></html>`;
  }
}
