import { ServiceError } from "../../ground/kit/errors.ts";
import { responses } from "./openapi.ts";
import type { RawOperation } from "./raw-operation.ts";
import type { AppContext, RawRoute } from "./raw-route.ts";
import { openByKey, type Serving } from "./serve-route.ts";

const PATH = "/mcp";

/** Serves a request with a good key; `keyId` is that key's. */
export type AssistantHandler = (c: AppContext, keyId: string) => Promise<Response>;

/**
 * Where assistants ask by the Model Context Protocol, over streamable HTTP. Programs come here, never a page: whatever a
 * browser sent is refused, so that no page can reach it by another name of this host.
 */
export function assistantRoute(serving: Serving, serve: AssistantHandler): RawRoute {
  return {
    method: "POST",
    path: PATH,
    async handle(c) {
      if (c.req.header("origin") !== undefined || c.req.header("sec-fetch-site") !== undefined)
        throw new ServiceError(
          "forbidden",
          "A web page may not use /mcp, and this request comes from a browser.",
        );
      const { actor } = await openByKey(serving, c, serving.address(c));
      serving.known(c);
      return serve(c, actor.keyId);
    },
  };
}

const message = { type: "object", description: "One message of the protocol (JSON-RPC 2.0)." };

/** As the OpenAPI document shows it. */
export const assistantOperation: RawOperation = {
  method: "POST",
  path: PATH,
  operation: {
    tags: ["Assistants"],
    security: [{ apiKey: [] }],
    "x-additive": true,
    operationId: "askAsAssistant",
    summary:
      "A message of the Model Context Protocol over streamable HTTP: what the key may read, and plans of changes; with --allow-acts they can be carried out",
    requestBody: { required: true, content: { "application/json": { schema: message } } },
    responses: responses(200, message, [
      "invalid_request",
      "invalid_json",
      "forbidden",
      "unauthorized",
      "rate_limited",
      "internal",
      "body_too_large",
      "unsupported_encoding",
    ]),
  },
};
