import { createMcpHandler } from "@modelcontextprotocol/server";
import type { Clock } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { parseJson } from "../../ground/kit/json.ts";
import type { Random } from "../../ground/kit/random.ts";
import { ASSISTANT } from "../../people/actor.ts";
import type { AppContext } from "../http/raw-route.ts";
import { decodeText, readBytes } from "../http/read-request.ts";
import type { AskBox } from "./ask.ts";
import { createPlans } from "./plans.ts";
import { assistantServer, operationsOnce } from "./server.ts";

/** What an assistant sends at once: a rule to try is the largest. */
const BODY_BYTES = 512 * 1024;

export interface AssistantDeps {
  clock: Clock;
  random: Random;
  /** Whether assistants may carry out plans here. */
  acts: boolean;
  /** The app itself: what an assistant asks takes the same way as any request. */
  app(request: Request, env: unknown): Response | Promise<Response>;
}

/**
 * Serves requests of assistants, each for itself: nothing is kept of a connection. Who sent it has shown their key
 * before; `keyId` names it.
 */
export function createAssistants({ clock, random, acts, app }: AssistantDeps) {
  const plans = createPlans({ clock, random });
  const operations = operationsOnce();
  return async (c: AppContext, keyId: string): Promise<Response> => {
    const parsedBody = parseJson(decodeText(await readBytes(c.req.raw, BODY_BYTES)));
    // Several in one request would be a way around the limits of the door.
    if (typeof parsedBody !== "object" || parsedBody === null || Array.isArray(parsedBody))
      throw new ServiceError("invalid_request", "The body must be one JSON-RPC message.");
    const ask = askIn(c, app);
    // It has nothing to notify of, so that nobody may listen.
    const handler = createMcpHandler(
      () => assistantServer({ ask, owner: keyId, plans, acts, random, operations }),
      { maxSubscriptions: 0 },
    );
    return handler.fetch(asJson(c.req.raw), { parsedBody });
  };
}

/** Its media types are those that the protocol asks for, whatever the client said: the body is read as what it is. */
function asJson({ url, headers: sent, signal }: Request): Request {
  const headers = new Headers(sent);
  headers.set("accept", "application/json, text/event-stream");
  headers.set("content-type", "application/json");
  headers.delete("content-length");
  return new Request(url, { method: "POST", headers, signal });
}

/** The routes of this very box, with the caller's key and address. */
function askIn(c: AppContext, app: AssistantDeps["app"]): AskBox {
  return async ({ method, path, body }) => {
    const headers = new Headers({
      [ASSISTANT.header]: ASSISTANT.value,
      accept: "application/json",
      "content-type": "application/json",
    });
    for (const name of ["authorization", "host", "x-forwarded-for"]) {
      const value = c.req.header(name);
      if (value !== undefined) headers.set(name, value);
    }
    const request = new Request(new URL(path, c.req.url), {
      method,
      headers,
      signal: c.req.raw.signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await app(request, c.env);
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
  };
}
