import type { MailRule, SourceOptions } from "../../core/projects/source.ts";
import { sha256 } from "../../ground/kit/ids.ts";
import { type NamedState, namedLimits } from "../ingest/named-fields.ts";
import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  placeOfBox,
  UnreadableBody,
} from "./adapter.ts";
import { mailPresets } from "./email/presets.ts";
import { stateOf } from "./email/subject.ts";
import { fitted } from "./fit.ts";
import { asText, type JsonFields, jsonBody, objectOf } from "./json.ts";
import { jsonReply } from "./replies.ts";

/**
 * Mail (contract §23). It arrives at a port of its own (src/web/intake), which turns it into JSON, a `MailText`.
 * Another program that parses mail can post that JSON.
 */
export const incomingMail: Adapter = {
  kind: "email",
  title: "E-mail (cron, mdadm, UPS, NAS, printers, backup programs)",
  identity: { title: ["subject"], labels: ["from"], named: "all" },
  room: "source",
  usualLevel: 300,
  caps: alertCaps,
  decode,
  setUp: ({ base, shortToken }) => {
    const host = placeOfBox(base).hostname;
    return {
      where: "the sender's mail settings, with the box started with --smtp 0.0.0.0:2525",
      paste: [
        `recipient:  alerts+${shortToken}@${host}`,
        `server:     ${host}, port 2525, STARTTLS if it can, no login`,
        `or, where it insists on a login: any user, and as the password ${shortToken}`,
      ].join("\n"),
      notes: [
        "The text before the + and the host are free; the short token alone before the @ works, too. With a login, the recipient may be anything.",
        `Cron: MAILTO=alerts+${shortToken}@${host} in the crontab, and a mail program on the machine that sends to the box, for example msmtp (account: host ${host}, port 2525).`,
        "The box forwards no mail: it refuses a recipient without a token with 550. 250 means that the event is on the disk.",
        'The subject is the message. "PROBLEM", "DOWN", "[FIRING:2]" and similar words open an alert. "OK", "UP", "RECOVERY", "[RESOLVED]", 🟢 and similar marks end the alert of the same subject, unless the words around them say no ("not OK", "0 of 3 UP"). For other words, set the source\'s option mail_rules: a list, or the name of a known sender (monit, nut …).',
        "While the box is off or full, a mail program keeps the mail and sends it later. Devices without a mail program try once.",
        "The box offers STARTTLS if it has --tls-cert. A device that can set no recipient and no login gets a port for its source: --smtp 0.0.0.0:2525=PROJECT/SOURCE --allow-from 10.0.0.0/8.",
      ],
    };
  },
};

function decode(request: InRequest): Decoded {
  if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  if (request.path !== "" && request.path !== "/") throw new UnreadableBody({ why: "not_found" });
  const mail = objectOf(jsonBody(request.body));
  if (mail === null) throw new UnreadableBody("A mail must be a JSON object.");
  const answer: Decoded["answer"] = ({ accepted }) => jsonReply(200, { accepted });
  const unwanted = unwantedAs(mail);
  if (unwanted !== null) return { events: [], rejected: [{ reason: unwanted }], answer };
  return {
    events: [mailEvent(mail, request)],
    ids: [idOf(mail)],
    rejected: [],
    answer,
  };
}

/** Without this, a box that pages about answers to its own mails would page for ever. */
function unwantedAs(mail: JsonFields): string | null {
  if (mail["is_bounce"] === true) return "a bounce: its envelope has no sender";
  return /^\s*auto-replied\b/i.test(asText(mail["auto_submitted"])) ? "an automatic reply" : null;
}

/** A known id with another text is another mail: some devices use one id for all. */
function idOf(mail: JsonFields): string | null {
  const id = asText(mail["message_id"]);
  return id === "" ? null : sha256(`${id}\n${asText(mail["subject"])}\n${asText(mail["text"])}`);
}

function mailEvent(mail: JsonFields, { options, watched }: InRequest) {
  const text = asText(mail["text"]).trim();
  const [firstLine = ""] = text.split("\n", 1);
  const subject = asText(mail["subject"]).trim();
  const title = (subject || firstLine.trim() || "(no subject)").replace(/\s+/g, " ");
  const rule = ruleFor(title, options);
  return fitted(
    {
      message: title,
      title: subject,
      level: rule?.level ?? levelOf(title, mail),
      keys: keysOf(mail),
      tags: ["email"],
      named: namedBy(title, { rule, from: asText(mail["from"]) }),
      details: text.slice(0, namedLimits.details + 1),
      occurredAt: timeOfMail(asText(mail["date"])),
    },
    watched,
  );
}

function ruleFor(title: string, { mail_rules = [] }: SourceOptions): MailRule | undefined {
  const subject = title.toLowerCase();
  const rules = typeof mail_rules === "string" ? mailPresets[mail_rules]?.rules : mail_rules;
  return rules?.find((rule) => subject.includes(rule.subject_contains.toLowerCase()));
}

/** Also within a word, like mdadm's `DegradedArray`. "SMART error (…) detected" is a failing disk. */
const TROUBLE =
  /critical|down|fail|problem|degraded|\b(?<!(?:no|0|without) )error\b|\balarm\b|🔴/iu;

function levelOf(title: string, mail: JsonFields): number {
  const isUrgent =
    /^\s*[12]\b/.test(asText(mail["x_priority"])) || /^\s*high\b/i.test(asText(mail["importance"]));
  return isUrgent || TROUBLE.test(title) ? 400 : 300;
}

function namedBy(
  title: string,
  { rule, from }: { rule: MailRule | undefined; from: string },
): NamedState {
  const { action } = stateOf(title);
  const { name } = stateOf(calledBy(title, rule));
  const names = {
    "subject-without-state": sha256(name || from),
    subject: sha256(title.toLowerCase()),
    none: null,
  };
  return {
    action: rule?.action ?? action,
    dedupKey: names[rule?.dedup ?? "subject-without-state"],
    instance: null,
    expiresAt: null,
  };
}

/** The subject with the words that named the alert when it began. */
function calledBy(title: string, rule: MailRule | undefined): string {
  if (rule?.named_as === undefined) return title;
  const at = title.toLowerCase().indexOf(rule.subject_contains.toLowerCase());
  return title.slice(0, at) + rule.named_as + title.slice(at + rule.subject_contains.length);
}

function keysOf(mail: JsonFields): [string, string][] {
  const counted = (name: string) => (Number(asText(mail[name])) > 0 ? asText(mail[name]) : "");
  const keys: [string, string][] = [
    ...(["from", "to", "message_id"] as const).map((name): [string, string] => [
      name,
      asText(mail[name]),
    ]),
    ["attachments", counted("attachments")],
    ["images", counted("images")],
    ["read", mail["is_partial"] === true ? "in part" : ""],
  ];
  return keys.filter(([, value]) => value !== "");
}

/** Unix seconds of a mail's Date, which can end with a comment; null for an invalid one. */
function timeOfMail(date: string): number | null {
  const ms = Date.parse(date.slice(0, 100).replace(/\s*\([^)]*\)?\s*$/, ""));
  return ms > 0 && ms < 100_000_000_000_000 ? Math.floor(ms / 1000) : null;
}
