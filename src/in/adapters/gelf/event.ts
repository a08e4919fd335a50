import type { IngestEvent } from "../../ingest/event.ts";
import type { WatchedKeys } from "../adapter.ts";
import { fitted } from "../fit.ts";
import { flattened } from "../flatten.ts";
import { asText, type JsonFields } from "../json.ts";
import { LINE_LEVEL } from "../line.ts";
import { levelOfSeverity } from "../syslog/event.ts";

const PLAIN = ["host", "facility", "file", "line"];
/** A larger number is in milliseconds. */
const MOST_SECONDS = 1e11;

/** Without a level it is no alert, although the format's default is 1: else every bare message would page. */
export function gelfEvent(
  fields: JsonFields,
  { peer, watched }: { peer: string; watched: WatchedKeys },
): IngestEvent {
  const short = asText(fields["short_message"]) || asText(fields["message"]);
  const full = asText(fields["full_message"]);
  const own = Object.entries(fields).filter(([name]) => /^_./.test(name));
  const seconds = Number(asText(fields["timestamp"]) || 0);
  const at = Math.floor(seconds > MOST_SECONDS ? seconds / 1000 : seconds);
  return fitted(
    {
      message: (short || full).trim() || "(empty)",
      level: levelOf(asText(fields["level"])),
      keys: [
        ...PLAIN.map((name) => [name, asText(fields[name])] as const),
        ["peer", peer] as const,
        ...flattened(
          Object.fromEntries(own.map(([name, value]) => [name.slice(1), value])),
          watched,
        ),
      ].filter(([, text]) => text !== ""),
      tags: ["gelf"],
      details: full === short ? "" : full,
      occurredAt: Number.isSafeInteger(at) && at > 0 ? at : null,
    },
    watched,
  );
}

const levelOf = (text: string) =>
  /^[0-7]$/.test(text) ? levelOfSeverity(Number(text)) : LINE_LEVEL;
