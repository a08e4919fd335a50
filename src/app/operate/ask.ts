import { request as plain } from "node:http";
import { request as secure } from "node:https";
import type { Clock } from "../../ground/kit/clock.ts";

const MOST_BYTES = 1024 * 1024;
const PATIENCE_MS = 3000;

/**
 * Reads one of the public pages of a box on this machine; null where nothing answers in time. It sends nothing secret,
 * so it ignores the certificate, which may be for another name.
 */
export function askBox(clock: Clock, url: string): Promise<unknown> {
  return new Promise((resolve) => {
    const send = url.startsWith("https:") ? secure : plain;
    const call = send(url, { rejectUnauthorized: false, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part: string) => {
        text += part;
        if (text.length > MOST_BYTES) call.destroy();
      });
      answer.on("end", () => settle(parse(text)));
      answer.on("error", () => settle(null));
    });
    const settle = (value: unknown) => {
      cancel();
      resolve(value);
    };
    const cancel = clock.after(PATIENCE_MS, () => {
      call.destroy();
      settle(null);
    });
    call.on("error", () => settle(null));
    call.end();
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
