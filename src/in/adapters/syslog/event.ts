import type { SourceOptions } from "../../../core/projects/source.ts";
import type { IngestEvent } from "../../ingest/event.ts";
import type { WatchedKeys } from "../adapter.ts";
import { fitted } from "../fit.ts";
import { jsonOfLine, levelInText, pairsOfLine } from "../line.ts";
import type { SyslogMessage } from "./shape.ts";

const FACILITIES =
  "kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp audit alert clock local0 local1 local2 local3 local4 local5 local6 local7".split(
    " ",
  );
const SEVERITIES = "emerg alert crit err warning notice info debug".split(" ");
const LEVELS = [500, 500, 500, 400, 300, 200, 200, 100];

/** The level of a syslog severity, 0 (emergency) to 7 (debug). */
export function levelOfSeverity(severity: number): number {
  return LEVELS[severity] ?? 200;
}

/** Structured data about the transport, not about the message. */
const UNTOLD = /^(?:timeQuality|meta|box@32473|[0-9a-f-]{32,36}@\d+)$/i;
const BOX = "box@32473";
const DAY = 86_400;

/** The token in a message's structured data: `[box@32473 key="T"]`, or as an element's name, `[T@41058]`. */
export function tokenOfSyslog({ data }: SyslogMessage): string | null {
  for (const [id, name, value] of data) {
    if (id === BOX && name === "key") return value;
    const [, token] = /^([0-9a-f-]{32,36})@\d+$/i.exec(id) ?? [];
    if (token !== undefined) return token;
  }
  return null;
}

/** A message's origin, and its source's settings. */
interface SyslogArrival {
  options: SourceOptions;
  /** The sender's address; empty where unknown. */
  peer: string;
  at: number;
  cut: boolean;
  /** The keys that the project's rules use. */
  watched: WatchedKeys;
}

/** The message as an event. Its text is `app: text`, so that equal texts of two programs differ. */
export function syslogEvent(message: SyslogMessage, arrival: SyslogArrival): IngestEvent {
  const { app, text, at } = message;
  const facility = FACILITIES[message.facility] ?? "";
  const body = text === "" ? "(empty)" : text;
  const isNear = at !== null && Math.abs(at - arrival.at) <= DAY;
  return fitted(
    {
      message: app === "" ? body : `${app}: ${body}`,
      level: levelOf(message, arrival.options),
      keys: [...keysOf(message, facility, arrival)].filter(([, value]) => value !== ""),
      tags: ["syslog", facility, ...(arrival.cut ? ["cut"] : [])],
      occurredAt: isNear ? at : null,
    },
    arrival.watched,
  );
}

function* keysOf(
  message: SyslogMessage,
  facility: string,
  { peer, options, watched }: SyslogArrival,
): Generator<readonly [string, string]> {
  const { host, app, pid, msgid, severity, data, more, text } = message;
  yield ["host", host || peer];
  yield* Object.entries({ app, pid, msgid, facility, peer });
  yield ["severity", SEVERITIES[severity] ?? ""];
  yield* more;
  for (const [id, name, value] of data)
    if (name !== "" && !UNTOLD.test(id)) yield [`sd.${id}.${name}`, value];
  if (options.logfmt && jsonOfLine(text) === null) yield* pairsOfLine(text, watched);
}

/** A container's id, which Docker's driver sends as the program's name. */
const CONTAINER = /^[0-9a-f]{12}$/;

/** Docker gives all of stderr the severity error: its level comes from the text, unless the source says otherwise. */
function levelOf({ app, text, severity }: SyslogMessage, options: SourceOptions): number {
  const byText = options.level_from_text ?? CONTAINER.test(app);
  return (byText ? levelInText(text) : null) ?? levelOfSeverity(severity);
}
