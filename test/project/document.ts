import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { programFile } from "../support/program.ts";

export const root = join(import.meta.dirname, "../..");

/** Documents under docs, by path. */
export const documents: readonly string[] = readdirSync(join(root, "docs"), {
  recursive: true,
  encoding: "utf8",
})
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`)
  .sort();

/** The fenced blocks of a document that are marked `info`, in order; only those after `heading`, if given. */
export function blocks(document: string, info: string, heading = ""): string[] {
  const text = readFileSync(join(root, document), "utf8");
  const section = text.slice(Math.max(0, text.indexOf(heading)));
  const fence = new RegExp(`^\`\`\`${info}\n([\\s\\S]*?)^\`\`\``, "gm");
  return [...section.matchAll(fence)].map(([, block = ""]) => block);
}

/** What a shell said in the end. */
export interface Said {
  code: number | null;
  out: string;
  err: string;
}

export interface Scene {
  /** Where the box listens. */
  url: string;
  /** What the box has said on standard output. */
  said(): string;
  /** Where the reader is at home, and first on the PATH. */
  home: string;
  /** Runs a script in bash, in a folder of its own with `box` on its PATH; it ends at the first fault. */
  shell(script: string, env?: Record<string, string>, cwd?: string): Promise<Said>;
}

/** A new box in a process of its own, as a reader of the documents has it. */
export async function withBox(play: (scene: Scene) => Promise<void>): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "box-document-"));
  const program = await programFile();
  writeFileSync(join(home, "box"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(join(home, "box"), 0o755);
  const { XDG_CONFIG_HOME: _, ...own } = process.env;
  const env = {
    ...own,
    HOME: home,
    BOX_DATA: join(home, "data"),
    PATH: [home, dirname(process.execPath), process.env["PATH"]].join(delimiter),
  };
  const box = spawn(process.execPath, [program, "serve", "--listen", "127.0.0.1:0"], { env });
  const ended = new Promise<number | null>((resolve) => box.once("exit", resolve));
  let said = "";
  try {
    const url = await new Promise<string>((resolve, reject) => {
      void ended.then((code) => reject(new Error(`the box ended with ${code}`)));
      box.stdout.on("data", (chunk: Buffer) => {
        said += chunk;
        const line = /listening on (\S+)/.exec(said);
        if (line?.[1]) resolve(line[1]);
      });
    });
    await play({
      url,
      said: () => said,
      home,
      shell: (script, more = {}, cwd = home) =>
        shell(script, { env: { ...env, BOX_URL: url, ...more }, cwd }),
    });
  } finally {
    box.kill();
    await ended;
    rmSync(home, { recursive: true, force: true });
  }
}

function shell(script: string, how: { env: NodeJS.ProcessEnv; cwd: string }): Promise<Said> {
  return new Promise((resolve, reject) => {
    // Where its input is a socket, bash takes itself for a remote login and reads the machine's own start-up file.
    const child = spawn("bash", ["--norc", "-euo", "pipefail", "-c", script], how);
    child.once("error", reject);
    let out = "";
    let err = "";
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (err += data));
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

/** The first seat, as the README's first alert makes it. */
const SEAT = `echo 'correct horse' | box login --code "$(box pair-code)" --email me@example.org --password-file -
`;

/** Runs all commands of a document in one shell; what they said. */
export async function readAll(document: string, scene: Scene, receiver: string): Promise<string> {
  const script = SEAT + blocks(document, "sh").join("\n");
  const { code, out, err } = await scene.shell(
    script
      .replaceAll("http://127.0.0.1:9000", receiver)
      .replaceAll("http://127.0.0.1:8080", scene.url),
  );
  assert.equal(code, 0, `${document}: ${err}\n${out}`);
  return out;
}

/** The delivery that the page on signatures shows, with all its parts. */
export function vector() {
  const text = blocks("docs/how-to/check-signatures.md", "text")[0] ?? "";
  const value = (name: string) => new RegExp(`^${name} +(.*)$`, "m").exec(text)?.[1] ?? "";
  return {
    secret: value("secret"),
    body: value("body"),
    timestamp: value("X-Service-Timestamp"),
    signature: value("X-Service-Signature"),
    eventId: value("webhook-id"),
    webhookTimestamp: value("webhook-timestamp"),
    webhookSignature: value("webhook-signature"),
  };
}

/** A browser's first account, by the link that a command prints. */
export async function seatByLink(said: string, who: { email: string; password: string }) {
  const link = new URL(/^link +(\S+)$/m.exec(said)?.[1] ?? "");
  return fetch(link.origin + link.pathname, {
    method: "POST",
    redirect: "manual",
    headers: { origin: link.origin },
    body: new URLSearchParams({ code: link.hash.replace("#code=", ""), ...who }),
  });
}
