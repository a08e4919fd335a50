/** Every kind of channel: a new one is a file of its own and a line here. */

export { apns } from "./apns/room.ts";
export { discord } from "./discord/room.ts";
export { email } from "./email/room.ts";
export { googleChat } from "./google-chat/room.ts";
export { gotify } from "./gotify/room.ts";
export { matrix } from "./matrix/room.ts";
export { mattermost } from "./mattermost/room.ts";
export { ntfy } from "./ntfy/room.ts";
export { pushover } from "./pushover/room.ts";
export { signal } from "./signal/room.ts";
export { slack } from "./slack/room.ts";
export { teams } from "./teams/room.ts";
export { telegram } from "./telegram/room.ts";
export { webhook } from "./webhook/room.ts";
