/** Debian's Firefox, by the protocol that it speaks itself (WebDriver BiDi): no driver stands between. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** `FIREFOX` names it where it isn't Debian's. */
export const FIREFOX = process.env["FIREFOX"] ?? "/usr/bin/firefox-esr";

/** It asks nobody for anything but the pages. */
const PREFERENCES = {
  "app.normandy.enabled": false,
  "app.update.enabled": false,
  "browser.safebrowsing.update.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "extensions.getAddons.cache.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "network.prefetch-next": false,
  "services.settings.server": "data:,",
  "toolkit.telemetry.reportingpolicy.firstRun": false,
};

const STARTS_MS = 120_000;
const ANSWERS_MS = 60_000;

type Answer = Record<string, unknown>;
type Waiting = { done(result: Answer): void; fail(error: Error): void };

export interface FirefoxTab {
  /** What its pages said that isn't a plain message, and what went wrong in their scripts. */
  noise: string[];
  /** Gives the answer's status. */
  goto(url: string): Promise<number>;
  size(width: number, height: number): Promise<void>;
  cookie(name: string, value: string, domain: string): Promise<void>;
  /** Evaluates in the page's own world, which its policy doesn't bind. */
  run(expression: string): Promise<unknown>;
  /** A pointer, as a person's: in the middle of what the selector finds first. */
  click(selector: string): Promise<void>;
  /** As PNG. */
  picture(): Promise<Buffer>;
}

export interface Firefox {
  tab: FirefoxTab;
  close(): Promise<void>;
}

export async function openFirefox(): Promise<Firefox> {
  const profile = mkdtempSync(join(tmpdir(), "box-firefox-"));
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`,
  );
  writeFileSync(join(profile, "user.js"), lines.join(""));
  const flags = ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0"];
  const env = { ...process.env, HOME: profile, MOZ_DISABLE_CONTENT_SANDBOX: "1" };
  const program = spawn(FIREFOX, flags, { env, stdio: ["ignore", "ignore", "pipe"] });
  const close = async () => {
    if (program.exitCode === null && program.signalCode === null) {
      program.kill();
      await once(program, "exit");
    }
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const socket = new WebSocket(`${await listening(program)}/session`);
    await once(socket, "open");
    return { tab: await tabOf(speak(socket)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Where it listens, as it says itself. */
async function listening({ stderr }: ChildProcess): Promise<string> {
  assert.ok(stderr);
  const said: string[] = [];
  const late = setTimeout(() => stderr.destroy(), STARTS_MS);
  try {
    for await (const line of createInterface(stderr)) {
      const [, url] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? [];
      if (url !== undefined) return url;
      said.push(line);
    }
  } finally {
    clearTimeout(late);
    stderr.resume();
  }
  throw new Error(`Firefox does not listen: ${said.join("\n")}`);
}

interface Spoken {
  ask(method: string, params: Answer): Promise<Answer>;
  hear(heard: (method: string, params: Answer) => void): void;
}

function speak(socket: WebSocket): Spoken {
  const waiting = new Map<number, Waiting>();
  let heard: (method: string, params: Answer) => void = () => {};
  let last = 0;
  socket.addEventListener("message", ({ data }) => {
    const { id, result, error, message, method, params } = JSON.parse(String(data));
    if (method !== undefined) return heard(method, params);
    const one = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) one?.done(result);
    else one?.fail(new Error(`${error}: ${message}`));
  });
  return {
    ask(method, params) {
      const id = ++last;
      socket.send(JSON.stringify({ id, method, params }));
      return new Promise((done, fail) => {
        waiting.set(id, { done, fail });
        const late = () => fail(new Error(`${method} is not answered`));
        setTimeout(late, ANSWERS_MS).unref();
      });
    },
    hear(told) {
      heard = told;
    },
  };
}

async function tabOf({ ask, hear }: Spoken): Promise<FirefoxTab> {
  await ask("session.new", { capabilities: {} });
  const { context } = await ask("browsingContext.create", { type: "tab" });
  const noise: string[] = [];
  let status = 0;
  hear((method, params) => {
    if (method === "log.entryAdded") {
      if (params["level"] !== "info" && params["level"] !== "debug")
        noise.push(`${params["level"]}: ${params["text"]}`);
      return;
    }
    const { response } = params as { response: { status: number } };
    if (params["navigation"] !== null) status = response.status;
  });
  const events = ["log.entryAdded", "network.responseCompleted"];
  await ask("session.subscribe", { events });
  const run = async (expression: string) => {
    const asked = { expression, awaitPromise: true, target: { context } };
    const { result, exceptionDetails } = await ask("script.evaluate", asked);
    assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
    return (result as { value?: unknown }).value;
  };
  return {
    noise,
    run,
    async goto(url) {
      await ask("browsingContext.navigate", { context, url, wait: "complete" });
      return status;
    },
    size: async (width, height) =>
      void (await ask("browsingContext.setViewport", { context, viewport: { width, height } })),
    cookie: async (name, value, domain) =>
      void (await ask("storage.setCookie", {
        cookie: { name, domain, value: { type: "string", value } },
      })),
    async click(selector) {
      const at = `document.querySelector(${JSON.stringify(selector)})`;
      await run(`${at}.scrollIntoView({ block: "center" })`);
      const place = await run(
        `(() => { const { x, y, width, height } = ${at}.getBoundingClientRect(); return JSON.stringify([x + width / 2, y + height / 2].map(Math.round)); })()`,
      );
      const [x, y] = JSON.parse(String(place)) as [number, number];
      const steps = [
        { type: "pointerMove", x, y },
        { type: "pointerDown", button: 0 },
        { type: "pointerUp", button: 0 },
      ];
      const actions = [{ type: "pointer", id: "hand", actions: steps }];
      await ask("input.performActions", { context, actions });
    },
    async picture() {
      const { data } = await ask("browsingContext.captureScreenshot", { context });
      return Buffer.from(String(data), "base64");
    },
  };
}
