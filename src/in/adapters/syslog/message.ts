import { isUtf8 } from "node:buffer";
import { readOldSyslog, type SenderClock } from "./rfc3164.ts";
import { readNewSyslog } from "./rfc5424.ts";
import type { SyslogBody, SyslogMessage } from "./shape.ts";

/** `user.notice`, for a message without a priority. */
const USUAL = 13;

/** Reads RFC 5424, RFC 3164 and similar formats. `now`: Unix seconds, for times without a year. */
export function readSyslog(bytes: Buffer, now: number, clock?: SenderClock): SyslogMessage {
  const whole = textOf(trimmed(bytes));
  const [mark = "", digits = ""] = /^<(\d{1,3})>/.exec(whole) ?? [];
  if (mark === "" || Number(digits) > 191) return { ...priority(USUAL), ...nothing, text: whole };
  const rest = whole.slice(mark.length);
  const body = readNewSyslog(rest) ?? readOldSyslog(rest, { now, clock });
  return { ...priority(Number(digits)), ...body, text: unescaped(body.text) };
}

const priority = (pri: number) => ({ facility: pri >> 3, severity: pri & 7 });

/** For a text without a known header. */
const nothing: Omit<SyslogBody, "text"> = {
  at: null,
  host: "",
  app: "",
  pid: "",
  msgid: "",
  data: [],
  more: [],
};

/** Frames end in LF, CR LF or NUL, and some senders count that as part of the message. */
function trimmed(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && [0, 10, 13].includes(bytes[end - 1] ?? -1)) end--;
  return bytes.subarray(0, end);
}

const textOf = (bytes: Buffer) => bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");

/** rsyslog escapes control characters; only these two are decoded. */
function unescaped(text: string): string {
  return text.trim().replaceAll("#012", "\n").replaceAll("#011", "\t");
}
