import { fillers } from "./bodies.ts";

interface Operation {
  requestBody?: { content: Record<string, { schema?: { properties?: object } }> };
}

/** A request with a body made to be dear. */
export interface DearRequest {
  method: string;
  path: string;
  type: string;
  body: string;
  what: string;
}

/** Bytes: most routes take no more, and those that do are named. */
const USUAL = 126_000;
const MORE: Readonly<Record<string, number>> = {
  "/v1/ingest": 2_000_000,
  "/v1/projects/{id}/config": 4_000_000,
  "/v1/relay/{key_id}": 65_000,
};

/** One for each route that takes a body, as the OpenAPI document that is served at `url` lists them. */
export async function dearRequests(
  url: string,
  oneOf: <T>(all: readonly T[]) => T,
): Promise<DearRequest[]> {
  const { paths } = (await (await fetch(`${url}/v1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
  };
  const requests: DearRequest[] = [];
  for (const [path, operations] of Object.entries(paths))
    for (const [method, { requestBody }] of Object.entries(operations)) {
      const [content] = Object.entries(requestBody?.content ?? {});
      if (content === undefined) continue;
      const [type, { schema }] = content;
      const [filled, filler] = oneOf(Object.entries(fillers));
      const names = Object.keys(schema?.properties ?? {});
      const whole = filler(MORE[path] ?? USUAL);
      const body = names.length === 0 ? whole : `{${JSON.stringify(oneOf(names))}:${whole}}`;
      requests.push({
        method: method.toUpperCase(),
        path,
        type,
        body,
        what: `${method} ${path}: ${filled}`,
      });
    }
  return requests;
}
