import type { BoxDeps } from "../../../src/app/parts.ts";
import { silentLog } from "../../../src/ground/kit/log.ts";
import { type Answer, type TestBox, testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";

/** A box with one source of a kind, and a function to send to it as its sender does. */
export interface Connected {
  box: TestBox;
  token: string;
  short: string;
  /** POSTs JSON, or a text as it is, below `/v1/in/{kind}`. */
  send(path: string, body: unknown, more?: RequestInit): Promise<Answer>;
  /** The project's alerts, newest first. */
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is what it tests
  alerts(): Promise<any[]>;
}

/** A project `p` with a rule for everything and a source `it` of this kind. */
export async function connected(kind: string, deps: Partial<BoxDeps> = {}): Promise<Connected> {
  const box = await testBox({}, handClock(), silentLog, deps);
  await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", { name: "any" });
  const { body } = await box.api("POST", "/v1/projects/p/sources", { name: "it", kind });
  return {
    box,
    token: body.token,
    short: body.short_token,
    async send(path, sent, more = {}) {
      const answer = await fetch(`${box.url}/v1/in/${kind}${path}`, {
        method: "POST",
        body: typeof sent === "string" ? sent : JSON.stringify(sent),
        ...more,
      });
      const text = await answer.text();
      const isJson = answer.headers.get("content-type") === "application/json";
      return {
        status: answer.status,
        body: isJson ? JSON.parse(text) : text,
        headers: answer.headers,
      };
    },
    alerts: async () => (await box.api("GET", "/v1/alerts")).body.alerts,
  };
}
