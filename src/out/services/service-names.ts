/** Kinds whose name isn't their code with a capital letter. */
const NAMES: Readonly<Record<string, string>> = {
  email: "Mail",
  ntfy: "ntfy",
  sms: "SMS",
  voice: "Calls",
  teams: "Microsoft Teams",
  google_chat: "Google Chat",
  web_push: "Browsers",
};

/** A kind of channel, gateway or contact as people call it: "Slack", "Google Chat". */
export const serviceName = (kind: string): string =>
  NAMES[kind] ?? `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;

/** A kind of way to a person within a sentence, before what they call it: "browser Pixel 8", "ntfy". */
export const wayWord = (kind: string): string => (kind === "web_push" ? "browser" : kind);
