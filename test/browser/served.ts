/** The pages that a browser is shown, served as a route would. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { PageAnswer } from "../../src/ground/page/answer.ts";
import type { DirectMessage } from "../../src/out/services/direct-message.ts";
import { mailDraft } from "../../src/out/services/email/person.ts";
import { gatePage, notFoundPage, reportPage } from "../../src/records/reports/page.ts";
import { renderMarkdown } from "../../src/records/reports/render.ts";
import type { PublicReport } from "../../src/records/reports/report.ts";
import { XSS_VECTORS } from "../fixtures/xss.ts";
import { entry, NOW, report, usualReport } from "../records/reports/sample.ts";
import { codeMessage, directMessage } from "../support/direct.ts";

export const PASSWORD = "correct horse";

/** Vectors are shown some at a time, each in an entry of its own. */
const VECTORS_A_PAGE = 15;
export const VECTOR_PAGES = Math.ceil(XSS_VECTORS.length / VECTORS_A_PAGE);

function pageOf(shown: PublicReport, refresh = true): PageAnswer {
  return reportPage({ report: shown, now: NOW, gated: false, refresh });
}

export const PAGES: Record<string, PageAnswer> = {
  "/ongoing": pageOf(usualReport(false)),
  "/still": pageOf(usualReport(false), false),
  "/resolved": pageOf(usualReport(true)),
  "/reported": pageOf(report({ title: "" })),
  "/wide": pageOf(wideReport()),
  "/asked": gatePage("asked"),
  "/wrong": gatePage("wrong"),
  "/waiting": gatePage({ waitSeconds: 42 }),
  "/missing": notFoundPage(),
  "/mail": mail({
    lines: [
      "You're first, Jonas 03:15",
      "host = db7",
      "service = payments-api",
      "critical · rule payments failing · 26 events · 2026-01-05 03:05 to 03:09 CET · alert 7",
      "Runbook: https://wiki.example/payments",
    ],
    said: { runbook: "https://wiki.example/payments" },
  }),
  "/mail-wide": mail({
    said: null,
    lines: [`${"x".repeat(200)} = ${"y".repeat(300)}`, "z".repeat(400), "שלום = 日本語"],
  }),
  "/mail-code": mail({ ...codeMessage }),
};

/** The page of a mail to a person, as a mail program would show it. */
function mail(message: Partial<DirectMessage>): PageAnswer {
  const { html: body } = mailDraft(directMessage({ said: {}, ...message }));
  return { status: 200, headers: { "Content-Type": "text/html; charset=utf-8" }, body };
}

/** What breaks layouts: words without end, wide tables, deep lists, other scripts and directions. */
function wideReport(): PublicReport {
  const word = "x".repeat(200);
  const row = (cell: string) => `|${`${cell}|`.repeat(12)}\n`;
  const content = [
    `### Late heading\n\n${word}\n\n\`${word}\``,
    row("head") + row("-") + row(word.slice(0, 40)),
    "- 1\n  - 2\n    - 3\n      - 4",
    `> # Quoted\n> ${word}`,
    "שלום עולם 日本語 🚒",
  ].join("\n\n");
  const entries = [
    entry({ title: word, contentHtml: renderMarkdown(content) }),
    entry({ id: "2", title: "שלום עולם", type: "analysis", contentHtml: renderMarkdown("# a") }),
  ];
  return report({ title: `${word} é 日本語`, description: `${word}\n\nמה שידוע`, entries });
}

/** A page whose every field holds vectors. */
function vectorPage(index: number): PageAnswer {
  const vectors = XSS_VECTORS.slice(index * VECTORS_A_PAGE, (index + 1) * VECTORS_A_PAGE);
  const entries = vectors.map((vector, at) =>
    entry({ id: String(at), title: vector, contentHtml: renderMarkdown(vector) }),
  );
  const all = vectors.join(" ");
  return pageOf(report({ title: all, description: all, entries }), false);
}

/** Without the policy, so that what is tested is the markup alone. */
function bare({ status, headers, body }: PageAnswer): PageAnswer {
  const { "Content-Security-Policy": _, ...others } = headers;
  return { status, headers: others, body };
}

/** What no renderer would let through: it shows that the trap catches. */
function unclean(): PageAnswer {
  const contentHtml = '<img src="data:," onerror="trap(1)">';
  return pageOf(report({ entries: [entry({ contentHtml })] }), false);
}

export interface Served {
  origin: string;
  /** How often a path was asked for. */
  hits: Map<string, number>;
  close(): void;
}

export async function serve(): Promise<Served> {
  const hits = new Map<string, number>();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://x");
    hits.set(pathname, (hits.get(pathname) ?? 0) + 1);
    // Browsers ask for it when they come to it, and tell where it lacks.
    if (pathname === "/favicon.ico") return void response.writeHead(204).end();
    if (pathname === "/gated") return void answerGate(request, response);
    send(response, answerFor(pathname));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { origin: `http://127.0.0.1:${port}`, hits, close };
}

function send(response: ServerResponse, { status, headers, body }: PageAnswer): void {
  response.writeHead(status, headers).end(body);
}

function answerFor(pathname: string): PageAnswer {
  const [, kind, index] = /^\/(vectors|bare)\/(\d+)$/.exec(pathname) ?? [];
  if (kind === "vectors") return vectorPage(Number(index));
  if (kind === "bare") return bare(vectorPage(Number(index)));
  if (pathname === "/unclean") return unclean();
  if (pathname === "/bare-unclean") return bare(unclean());
  const page = PAGES[pathname.replace(/^\/hasty/, "/ongoing")] ?? notFoundPage();
  // The page's own refresh, in a hurry.
  if (pathname === "/hasty") return { ...page, headers: { ...page.headers, Refresh: "1" } };
  return page;
}

/** The gate in small: a form, a cookie, a page. */
async function answerGate(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === "POST") {
    const form = new URLSearchParams(await text(request));
    if (form.get("password") !== PASSWORD) return send(response, gatePage("wrong"));
    const headers = { Location: "/gated", "Set-Cookie": "open=1; HttpOnly; SameSite=Strict" };
    return void response.writeHead(303, headers).end();
  }
  const open = request.headers.cookie?.includes("open=1") === true;
  const view = { report: usualReport(true), now: NOW, gated: true, refresh: true };
  send(response, open ? reportPage(view) : gatePage("asked"));
}
