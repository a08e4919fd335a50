import { isUtf8 } from "node:buffer";
import { timeOf } from "../json.ts";
import { readOldSyslog, type SenderClock } from "./rfc3164.ts";
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

const HEAD =
  /^\d{1,2} (-|\d{4}-\d{2}-\d{2}[Tt]\S{1,40}) (\S{1,255}) (\S{1,255}) (\S{1,255}) (\S{1,255}) ?/;

/** Reads what follows the priority, in RFC 5424; null for another format. Invalid structured data is text. */
function readNewSyslog(rest: string): SyslogBody | null {
  const head = HEAD.exec(rest);
  if (head === null) return null;
  const [whole, time = "", host = "", app = "", pid = "", msgid = ""] = head;
  const { data, end } = readData(rest, whole.length);
  return {
    at: timeOf(time),
    host: nil(host),
    app: nil(app),
    pid: nil(pid),
    msgid: nil(msgid),
    data,
    more: [],
    text: rest.slice(end).replace(/^ ?\uFEFF/, ""),
  };
}

const nil = (word: string) => (word === "-" ? "" : word);

const ELEMENT = /\[([^\s="\]]{1,255})/y;
const PARAMETER = / +([^\s="\]]{1,255})="((?:[^"\\\]]|\\.)*)"/sy;

/** The elements from `from` on, and where the message begins. */
function readData(text: string, from: number): { data: SyslogMessage["data"]; end: number } {
  if (text[from] === "-") return { data: [], end: from + 1 };
  const data: [string, string, string][] = [];
  let end = from;
  while (text[end] === "[") {
    const element = readElement(text, end);
    if (element === null) break;
    data.push(...element.data);
    end = element.end;
  }
  return { data, end };
}

function readElement(text: string, from: number) {
  ELEMENT.lastIndex = from;
  const [start = "", id = ""] = ELEMENT.exec(text) ?? [];
  if (start === "") return null;
  const data: [string, string, string][] = [];
  let at = from + start.length;
  for (;;) {
    PARAMETER.lastIndex = at;
    const [whole = "", name = "", value = ""] = PARAMETER.exec(text) ?? [];
    if (whole === "") break;
    data.push([id, name, value.replace(/\\(["\\\]])/g, "$1")]);
    at += whole.length;
  }
  while (text[at] === " ") at++;
  if (text[at] !== "]") return null;
  return {
    data: data.length === 0 ? [[id, "", ""] as [string, string, string]] : data,
    end: at + 1,
  };
}
