/** One request to the box's own interface, with the key of the person whom the assistant works for. */
export interface BoxRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From the slash on. */
  path: string;
  body?: unknown;
}

export interface BoxReply {
  status: number;
  body: unknown;
}

/** Asks the box as any client with that key would: the route decides who may, and what is no good. */
export type AskBox = (asked: BoxRequest) => Promise<BoxReply>;
