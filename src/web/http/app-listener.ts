import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../ground/kit/clock.ts";
import type { Log } from "../../ground/kit/log.ts";
import type { App } from "./app.ts";
import { contentOf, HttpAnswer } from "./http-answer.ts";
import type { IngestHandler } from "./ingest.ts";
import { webRequest } from "./web-request.ts";
import { readRest, wireError } from "./wire.ts";

export interface ListenerDeps {
  ingest: IngestHandler;
  clock: Clock;
  log: Log;
}

export type AppListener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Gives Node's requests to the app, and its answers to Node. */
export function appListener(
  { fetch: ask }: App,
  { ingest, clock, log }: ListenerDeps,
): AppListener {
  return async (incoming, outgoing) => {
    outgoing.once("finish", () => leaveRest(incoming, clock));
    const request = webRequest(incoming, outgoing);
    try {
      const made = request && (await ask(request, { incoming, outgoing }));
      await send(made ?? refusal(ingest), incoming, outgoing);
    } catch (error) {
      // The app answers its own errors: this answer can't be sent, or not to its end.
      log.error({ method: incoming.method, err: error }, "an answer broke off");
      if (outgoing.headersSent) outgoing.destroy();
      else await send(refusal(ingest), incoming, outgoing);
    }
  };
}

function refusal(ingest: IngestHandler): Response {
  const { status, headers, body } = ingest.refuse(wireError({}));
  return new HttpAnswer(body, { status, headers: { ...headers, connection: "close" } });
}

/** What nobody read of a body is read now, so that the next request on the connection can be. */
function leaveRest(incoming: IncomingMessage, clock: Clock): void {
  if (incoming.readableEnded || incoming.destroyed) return;
  if (incoming.complete) incoming.resume();
  else readRest(incoming, clock);
}

async function send(
  answer: Response,
  { method }: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const content = contentOf(answer);
  const isStream =
    content !== null && typeof content !== "string" && !(content instanceof Uint8Array);
  // Another node has answered, or nobody is there any more.
  if (outgoing.headersSent || outgoing.destroyed) {
    if (isStream) void content.cancel().catch(() => {});
    return;
  }
  const headers: Record<string, string | string[]> = Object.fromEntries(answer.headers);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) headers["set-cookie"] = cookies;
  const hasLength =
    !isStream && method !== "HEAD" && answer.status !== 204 && answer.status !== 304;
  if (hasLength) headers["content-length"] = String(Buffer.byteLength(content ?? ""));
  outgoing.writeHead(answer.status, headers);
  if (!isStream) return void outgoing.end(content ?? undefined);
  outgoing.flushHeaders();
  await pour(content, outgoing);
}

/** Reads on only where the client takes it. A client that goes away ends the stream. */
async function pour(content: ReadableStream<Uint8Array>, outgoing: ServerResponse): Promise<void> {
  const reader = content.getReader();
  outgoing.once("close", () => void reader.cancel().catch(() => {}));
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!outgoing.write(value))
      await new Promise<void>((resolve) => {
        outgoing.once("drain", resolve);
        outgoing.once("close", resolve);
      });
  }
  outgoing.end();
}
