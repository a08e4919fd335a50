import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  UnreadableBody,
} from "./adapter.ts";
import { fitted } from "./fit.ts";
import { asText, objectOf } from "./json.ts";
import { bodyValue } from "./mapping/body.ts";
import { mappedPairs } from "./mapping/flatten.ts";
import { jsonReply, refusedAs } from "./replies.ts";

const VERSION = { version: "2.6.1", commit: "", buildDate: "" };

/** A message in Gotify's format, which Proxmox and many self-hosted tools send. */
export const gotifyMessages: Adapter = {
  kind: "gotify",
  title: "Senders of Gotify messages",
  identity: { title: ["title and message"], labels: [], named: "none" },
  room: "source",
  caps: alertCaps,
  decode,
  refuse: refusedAs((error, errorCode) => ({ error, errorCode, errorDescription: error })),
  setUp: ({ base, shortToken }) => ({
    where: "the sender's Gotify target",
    paste: [`Server: ${base}/v1/in/gotify`, `Token: ${shortToken}`].join("\n"),
    notes: [
      "Priority 8 and above is level 500, 6 and 7 are 400, 4 and 5 are 300, below is 200. A message opens an alert, and no message resolves it: set auto_resolve_quiet_minutes in the rule.",
      "What is sent while the box is off is lost.",
    ],
  }),
};

function decode(request: InRequest): Decoded {
  const path = request.path.replace(/\/$/, "");
  if (path === "/version") return version(request);
  if (path !== "/message") throw new UnreadableBody({ why: "not_found" });
  if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  const body = objectOf(bodyValue(request)) ?? {};
  const message = asText(body["message"]).trim();
  if (message === "") throw new UnreadableBody("message is required");
  const title = asText(body["title"]).trim();
  const priority = Number(asText(body["priority"]) || 0) || 0;
  const budget = { left: 10_000 + request.body.length * 4 };
  const called = title === "" ? message : `${title}: ${message.split("\n", 1)[0] ?? ""}`;
  const event = fitted(
    {
      message: called,
      title: called,
      level: levelOfPriority(priority),
      keys: [
        ["title", title] as const,
        ["priority", String(priority)] as const,
        ...mappedPairs(body["extras"], {
          drop: new Set(),
          from: "",
          budget,
          watched: request.watched,
        }),
      ].filter(([, text]) => text !== ""),
      tags: ["gotify"],
      details: message,
    },
    request.watched,
  );
  const date = new Date(request.at * 1000).toISOString();
  return {
    events: [event],
    rejected: [],
    answer: () => jsonReply(200, { id: 1, appid: 1, message, title, priority, date }),
  };
}

/** Senders ask for the version when they are configured. */
function version({ method }: InRequest): Decoded {
  if (method !== "GET" && method !== "HEAD")
    throw new UnreadableBody({ why: "method", allowed: ["GET"] });
  return { events: [], rejected: [], answer: () => jsonReply(200, VERSION) };
}

function levelOfPriority(priority: number): number {
  if (priority >= 8) return 500;
  if (priority >= 6) return 400;
  return priority >= 4 ? 300 : 200;
}
