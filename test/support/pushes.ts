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

export const PUSHOVER_TOKEN = "canaryTokenKzGDORePKggMaC0QOYA";
export const PUSHOVER_USER = "canaryUserQrpdLXcNVCShyVnQhYGp";

/** Pushover: forms, exact keys, limits in characters, and what an emergency needs; it counts whom it still rings. */
export function pushoverServer(): {
  behaviour: Behaviour;
  ringing: Set<string>;
  /** Emergencies by their receipts: when the person took them, in Unix seconds; 0 while nobody has. */
  receipts: Map<string, number>;
} {
  const ringing = new Set<string>();
  const receipts = new Map<string, number>();
  const behaviour: Behaviour = (response, _socket, request) => {
    const say = (status: number, body: object) =>
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(JSON.stringify({ ...body, request: "647d2300-702c-4b38-8b2f-d56326ae460b" }));
    const refuse = (wrong: string) =>
      say(400, { [wrong]: "invalid", errors: [`${wrong} is invalid, see the API`], status: 0 });
    if (request.path.startsWith("/1/apps/limits.json?token="))
      return request.path.endsWith(`=${PUSHOVER_TOKEN}`)
        ? say(200, { limit: 10_000, remaining: 7_496, reset: 1_393_653_600, status: 1 })
        : refuse("token");
    const asked = /^\/1\/receipts\/(\w{30})(\/cancel)?\.json(?:\?token=(\w+))?$/.exec(request.path);
    if (asked?.[1] !== undefined) {
      const at = receipts.get(asked[1]);
      const token = asked[2] === undefined ? asked[3] : formOf(request)["token"];
      if (token !== PUSHOVER_TOKEN) return refuse("token");
      if (at === undefined) return say(404, { receipt: "not found", status: 0 });
      if (asked[2] !== undefined) return say(200, { status: Number(receipts.delete(asked[1])) });
      return say(200, { status: 1, acknowledged: Number(at > 0), acknowledged_at: at, expired: 0 });
    }
    const form = formOf(request);
    if (request.headers["content-type"] !== "application/x-www-form-urlencoded")
      return refuse("message");
    if (form["token"] !== PUSHOVER_TOKEN) return refuse("token");
    const cancelled = /^\/1\/receipts\/cancel_by_tag\/([A-Za-z0-9]+)\.json$/.exec(
      request.path,
    )?.[1];
    if (cancelled !== undefined)
      return say(200, { status: 1, canceled: Number(ringing.delete(cancelled)) });
    if (request.path !== "/1/messages.json") return say(404, { status: 0 });
    if (form["user"] !== PUSHOVER_USER) return refuse("user");
    const { title = "", message = "", url = "", url_title: named = "" } = form;
    const length = (text: string) => [...text].length;
    if (message === "" || length(message) > 1_024) return refuse("message");
    if (length(title) > 250 || length(url) > 512 || length(named) > 100) return refuse("title");
    const { priority = "0", retry = "", expire = "", tags = "" } = form;
    if (!/^(-[12]|[012])$/.test(priority) || !/^\d+$/.test(form["timestamp"] ?? ""))
      return refuse("priority");
    if (priority !== "2") return say(200, { status: 1 });
    if (Number(retry) < 30 || Number(expire) > 10_800 || Number(expire) < 1) return refuse("retry");
    ringing.add(tags);
    const receipt = `rLqVuqTRh62UzxtmqiaLzQmVcPg${String(receipts.size).padStart(3, "0")}`;
    receipts.set(receipt, 0);
    say(200, { status: 1, receipt });
  };
  return { behaviour, ringing, receipts };
}

export const NTFY_TOKEN = "tk_canary_ntfy_9f86d081";

/** An ntfy server that asks for a token: JSON at its root, limits in bytes, three actions at most. */
export function ntfyServer(): {
  behaviour: Behaviour;
  published: Record<string, unknown>[];
  faults: string[];
} {
  const published: Record<string, unknown>[] = [];
  const faults: string[] = [];
  const behaviour: Behaviour = (response, _socket, request) => {
    const say = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const refuse = (http: number, error: string) => {
      faults.push(error);
      say(http, { code: http * 100 + 1, http, error, link: "https://ntfy.sh/docs" });
    };
    if (request.headers["authorization"] !== `Bearer ${NTFY_TOKEN}`)
      return refuse(401, "unauthorized");
    if (request.path === "/v1/account") return say(200, { username: "box", role: "user" });
    // Nobody answers anything.
    if (/^\/box-\w{32}\/json\?poll=1&/.test(request.path)) return response.writeHead(200).end();
    if (request.method !== "POST" || request.path !== "/") return refuse(404, "page not found");
    // It reads twice a message's length, escapes and addresses among it.
    if (Buffer.byteLength(request.body) > 8_192) return refuse(413, "JSON body too large");
    const body = bodyOf(request);
    const size = (text: unknown) => (typeof text === "string" ? Buffer.byteLength(text) : 0);
    const actions = Array.isArray(body.actions) ? body.actions : [];
    const isAction = ({ action, label, url }: Record<string, unknown>) =>
      /^(view|http)$/.test(String(action)) && size(label) > 0 && size(url) > 0;
    if (!/^[-_A-Za-z0-9]{1,64}$/.test(body.topic)) return refuse(400, "invalid topic");
    if (size(body.message) === 0 || size(body.message) > 4_096 || size(body.title) > 250)
      return refuse(413, "attachment too large");
    if (!(body.priority >= 1 && body.priority <= 5)) return refuse(400, "invalid priority");
    if (actions.length > 3 || !actions.every(isAction)) return refuse(400, "invalid actions");
    published.push(body);
    say(200, { id: `ntfy${published.length}`, event: "message", topic: body.topic });
  };
  return { behaviour, published, faults };
}

/** The fields of a form that a service got. */
export function formOf(request: Received | undefined): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(request?.body ?? ""));
}

/** The JSON that a service got. */
export function bodyOf(request: Received | undefined) {
  return JSON.parse(request?.body ?? "null");
}
