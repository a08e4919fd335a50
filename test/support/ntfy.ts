import type { Behaviour } from "./receiver.ts";

/** A message as the app shows it. */
export interface NtfyMessage {
  id: string;
  topic: string;
  title?: string;
  message: string;
  priority?: number;
  actions?: {
    action: string;
    label: string;
    url: string;
    method?: string;
    headers?: Record<string, string>;
    body?: string;
  }[];
}

/** An ntfy server that anybody may use: topics are made by writing to them, and are read from a message on. */
export function openNtfy(): {
  behaviour: Behaviour;
  /** What a topic's subscribers have, oldest first. */
  on(topic: string): NtfyMessage[];
} {
  const all: NtfyMessage[] = [];
  const publish = (message: Omit<NtfyMessage, "id">) => {
    const added = { ...message, id: `msg${all.length + 1}` };
    all.push(added);
    return added;
  };
  const behaviour: Behaviour = (response, _socket, { method, path, body }) => {
    const url = new URL(path, "http://ntfy");
    const say = (status: number, text: string) =>
      response.writeHead(status, { "content-type": "application/json" }).end(text);
    const [, topic = "", view] = url.pathname.split("/");
    if (path === "/v1/account") return void say(200, '{"username":"*","role":"anonymous"}');
    if (method === "POST" && path === "/")
      return void say(200, JSON.stringify({ ...publish(JSON.parse(body)), event: "message" }));
    if (method === "POST" && view === undefined)
      return void say(
        200,
        JSON.stringify({ ...publish({ topic, message: body }), event: "message" }),
      );
    if (method !== "GET" || view !== "json" || url.searchParams.get("poll") !== "1")
      return void say(404, '{"error":"page not found"}');
    const since = url.searchParams.get("since");
    const own = all.filter((one) => one.topic === topic);
    const lines = own
      .slice(own.findIndex(({ id }) => id === since) + 1)
      .map((one) => `${JSON.stringify({ ...one, event: "message" })}\n`);
    say(200, lines.join(""));
  };
  return { behaviour, on: (topic) => all.filter((one) => one.topic === topic) };
}

/** What the app does when somebody presses a button of a message. */
export async function pressNtfy(message: NtfyMessage, label: string): Promise<void> {
  const button = message.actions?.find((one) => one.label === label && one.action === "http");
  if (button === undefined) throw new Error(`no button ${label} in ${JSON.stringify(message)}`);
  const { url, method = "POST", headers = {}, body = "" } = button;
  const answer = await fetch(url, { method, headers, body });
  if (!answer.ok) throw new Error(`the button got ${answer.status}`);
}
