import type { InRequest } from "../../src/adapters/adapter.ts";
import { sent } from "./clean.ts";

/** Of senders of lines. */
export const lineSamples: Readonly<Record<string, readonly InRequest[]>> = {
  syslog: [sent(syslogStream())],
};

/** Both framings, both standards, and what calls itself syslog beside them. */
function syslogStream(): string {
  const counted = '<27>1 2026-01-05T08:35:41.5Z db nginx 812 ID [a@1 b="c\\"d"][e] \uFEFFünïcode\n';
  return [
    "<27>Jan  5 08:35:41 db nginx[812]: timed out #012 again\n",
    `${Buffer.byteLength(counted)} ${counted}`,
    "<189>4231: *Jan  1 18:46:11.457 UTC: %SYS-5-CONFIG_I: Configured\n",
    "<30>Jan  5 10:12:13 U7PG2,788a20,v6.5: hostapd: left\0",
    "<11>python: division by zero\0no priority level=error\n",
  ].join("");
}
