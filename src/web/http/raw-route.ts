import type { Context } from "hono";
import type { RequestVariables } from "./serve-route.ts";

/** One request on its way through the app. */
export type AppContext = Context<{ Variables: RequestVariables }>;

/** A route outside the schema-checked ones: public pages, health, metrics, the relay. */
export interface RawRoute {
  method: "GET" | "POST" | "DELETE";
  path: string;
  noHead?: boolean;
  /** Its answer says nothing of any store, so it waits for no commit. */
  waitsForNothing?: true;
  handle(c: AppContext): Response | Promise<Response>;
}
