import type { Browser, BrowserContext, CDPSession } from "playwright-core";
import { start } from "./harness.ts";

/** Open alerts, each of a rule of its own: a page of rows. */
export const OPEN = 50;

/** A box of its own process, with fifty open alerts, and a session. */
export async function furnished() {
  const server = await start(process.execPath, ["bench/box-server.ts"]);
  const [url = "", token = "", key = ""] = server.line.split(" ");
  const call = async (method: string, path: string, body?: object, bearer = key) => {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${bearer}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json() as Promise<Record<string, string>>;
  };
  await call("POST", "/v1/projects", { name: "seen" });
  const source = await call("POST", "/v1/projects/seen/sources", { name: "app" });
  for (let n = 0; n < OPEN; n++) {
    // Many of one rule would be one row.
    const conditions = [{ key: "n", op: "eq", value: `${n}` }];
    await call("POST", "/v1/projects/seen/rules", { name: `seen ${n}`, conditions });
    await call(
      "POST",
      "/v1/ingest",
      { message: `payment ${n} failed`, level: 500, keys: { n: `${n}` } },
      source["token"],
    );
  }
  // Signing in loads the console.
  const unloaded = server.memory().anonymous;
  const cookie = await signIn(url, key);
  return { server, url, token, cookie, call, unloaded };
}
export type Furnished = Awaited<ReturnType<typeof furnished>>;

export async function context(
  browser: Browser,
  { url }: Furnished,
  cookie: string,
): Promise<BrowserContext> {
  const made = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const [name = "", value = ""] = cookie.split("=");
  await made.addCookies([
    { name, value, url },
    { name: "zone", value: "UTC", url },
  ]);
  // A page of nothing on the same origin: what the browser itself takes.
  await made.route("**/empty-page", (route) =>
    route.fulfill({ contentType: "text/html", body: "<!doctype html><title>empty</title><p>." }),
  );
  return made;
}

/** Over the debugger, which the page's policy doesn't bind. */
export async function ask(debug: CDPSession, expression: string): Promise<number> {
  const how = { expression, awaitPromise: true, returnByValue: true };
  return Number((await debug.send("Runtime.evaluate", how)).result.value);
}

let sessions: string[] = [];
let taken = 0;
/** One of seven sessions, in turn. */
export async function sessionOf({ url, call }: Furnished): Promise<string> {
  if (sessions.length < 7) {
    const { key = "" } = await call("POST", "/v1/keys", { label: "bench" });
    sessions = [...sessions, await signIn(url, key)];
  }
  return sessions[taken++ % 7] ?? sessions.at(-1) ?? "";
}

/** A new session's cookie. */
async function signIn(url: string, key: string): Promise<string> {
  const signed = await fetch(`${url}/signin`, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ key }),
    headers: { origin: url, accept: "text/html" },
  });
  return (signed.headers.getSetCookie()[0] ?? "").split(";")[0] ?? "";
}
