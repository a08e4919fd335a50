/** Every kind of contact: a new one is a file of its own and a line here. */

export { emailContact } from "./email/person.ts";
export { matrixContact } from "./matrix/person.ts";
export { ntfyContact } from "./ntfy/person.ts";
export { pushoverContact } from "./pushover/person.ts";
export { slackContact } from "./slack/person.ts";
export { telegramContact } from "./telegram/person.ts";
export { smsContact, voiceContact } from "./twilio/person.ts";
export { webPushContact } from "./web-push/person.ts";
export { webhookContact } from "./webhook/person.ts";
