import { ElsewhereError } from "../../ground/kit/elsewhere.ts";
import type { IngestHandler, IngestReply } from "./ingest.ts";
import type { AppContext, RawRoute } from "./raw-route.ts";
import { decodeText, readBytes } from "./read-request.ts";

/** `POST /v1/ingest` as a route of the app: the same door as the server's, for requests that come as values. */
export function ingestRoute(door: IngestHandler, address: (c: AppContext) => string): RawRoute {
  return {
    method: "POST",
    path: "/v1/ingest",
    async handle(c) {
      try {
        const admitted = await door.admit({
          authorization: c.req.header("authorization"),
          contentType: c.req.header("content-type"),
          contentEncoding: c.req.header("content-encoding"),
          address: address(c),
        });
        const body = decodeText(await readBytes(c.req.raw, admitted.bodyLimit));
        return toResponse(
          await new Promise<IngestReply>((done) => door.take(admitted, body, done)),
        );
      } catch (error) {
        if (error instanceof ElsewhereError) throw error;
        return toResponse(door.refuse(error));
      }
    },
  };
}

function toResponse(reply: IngestReply): Response {
  return new Response(reply.body, { status: reply.status, headers: reply.headers });
}
