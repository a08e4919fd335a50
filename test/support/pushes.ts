import type { Behaviour, Received } from "./receiver.ts";

/** Push services as far as a box meets them. */

export const GOTIFY_TOKEN = "AcanaryGotify-9";

/** Gotify: JSON at `/message`, the application's token in a header, and no message without text. */
export function gotifyServer(): Behaviour {
  return (response, _socket, request) => {
    const say = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const refuse = (status: number, error: string) =>
      say(status, { error, errorCode: status, errorDescription: request.headers["x-gotify-key"] });
    if (request.method !== "POST" || !/^(\/gotify)?\/message$/.test(request.path))
      return refuse(404, "Not Found");
    if (request.headers["x-gotify-key"] !== GOTIFY_TOKEN) return refuse(401, "Unauthorized");
    const isJson = request.headers["content-type"] === "application/json";
    const { title, message, priority } = isJson ? JSON.parse(request.body) : {};
    const isWhole = typeof title === "string" && typeof message === "string" && message !== "";
    if (!isWhole || !Number.isInteger(priority)) return refuse(400, "Bad Request");
    say(200, { id: 1, appid: 1, title, message, priority, date: "2026-01-05T03:12:01Z" });
  };
}

/** The JSON that a service got. */
export function bodyOf(request: Received | undefined) {
  return JSON.parse(request?.body ?? "null");
}
