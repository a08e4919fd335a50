import type { IngestEvent } from "../ingest/event.ts";
import {
  type Adapter,
  type Decoded,
  type InRequest,
  lineCaps,
  MOST_LINES,
  placeOfBox,
  type Rejected,
  UnreadableBody,
} from "./adapter.ts";
import { byteLines, LF, NUL } from "./byte-lines.ts";
import { gelfEvent } from "./gelf/event.ts";
import { type JsonFields, jsonBody, objectOf } from "./json.ts";

/** Values of one message; an event holds a hundred. */
const MOST_VALUES = 10_000;

/** Graylog's format (contract §23): over HTTP here, over UDP and TCP at ports of its own (src/web/intake). */
export const gelf: Adapter = {
  kind: "gelf",
  title: "GELF (Docker, Graylog's senders)",
  identity: { title: [], labels: ["host", "container_name"], named: "none" },
  room: "project",
  caps: lineCaps,
  decode,
  setUp: ({ base, token }) => ({
    where:
      "/etc/docker/daemon.json, with the box started with --gelf-udp 0.0.0.0:12201=PROJECT/SOURCE --allow-from 10.0.0.0/8",
    paste: JSON.stringify(
      {
        "log-driver": "gelf",
        "log-opts": { "gelf-address": `udp://${placeOfBox(base).hostname}:12201` },
      },
      null,
      2,
    ),
    notes: [
      `Over HTTP you need no port of its own: POST to ${base}/v1/in/gelf/${token}.`,
      "GELF has no place for a token. Over UDP and TCP, the port belongs to one source, and --allow-from says who may send.",
      "Fields that begin with _ become keys. A message without a level has level 200.",
      "What is sent over UDP while the box is off is lost, and so is what is in the sender's TCP buffer.",
    ],
  }),
};

function decode({ method, path, body, watched }: InRequest): Decoded {
  if (!["", "/", "/gelf"].includes(path)) throw new UnreadableBody({ why: "not_found" });
  if (method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  const events: IngestEvent[] = [];
  const rejected: Rejected[] = [];
  const messages = messagesOf(body);
  for (const message of messages)
    if (message === null) rejected.push({ reason: "a message must be a JSON object" });
    else events.push(gelfEvent(message, { peer: "", watched }));
  if (events.length === 0) throw new UnreadableBody("The body is no GELF message.");
  return { events, rejected, answer: () => ({ status: 202, body: "" }) };
}

/** The body as one message, else one message a line. */
function messagesOf(body: Buffer): (JsonFields | null)[] {
  const whole = gelfFields(body);
  if (whole !== null) return [whole];
  const lines = byteLines(body, MOST_LINES, [LF, NUL]);
  if (lines.length > MOST_LINES) throw new UnreadableBody({ why: "too_large" });
  return lines.map(gelfFields);
}

/** A message's fields; null for invalid JSON, and for too many fields. */
export function gelfFields(bytes: Buffer): JsonFields | null {
  try {
    return objectOf(jsonBody(bytes, MOST_VALUES));
  } catch {
    return null;
  }
}
