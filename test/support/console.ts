import assert from "node:assert/strict";
import { openSession } from "../../src/people/sessions.ts";
import type { Person, TestBox } from "./box.ts";

export interface PageAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** Somebody's browser without a browser: pages by their addresses, with a session's cookie. */
export interface Tab {
  cookie: string;
  get(path: string, headers?: Record<string, string>): Promise<PageAnswer>;
  /** A form, as a browser sends it from the page at `from`. */
  post(
    path: string,
    fields?: Record<string, string> | [string, string][],
    how?: { from?: string; headers?: Record<string, string> },
  ): Promise<PageAnswer>;
  /** These sections of a page, as its script asks for them. */
  sections(path: string, ...ids: string[]): Promise<PageAnswer>;
}

/** Signs in as the box's owner, or as another person. */
export function signedIn(box: TestBox, person: Person = box.owner): Tab {
  const { cookie } = box.tenant.store.write((tx) =>
    openSession(tx, {
      accountId: person.accountId,
      method: "password",
      keyId: null,
      address: "127.0.0.1",
      agent: "a test",
    }),
  );
  return tabOf(box, `box=${cookie}`);
}

/** Ids that stand more than once: a script takes the first for the other. */
function twice(text: string): string[] {
  const ids = [...text.matchAll(/<[a-z][^>]* id="([^"]*)"/g)].map(([, id = ""]) => id);
  return ids.filter((id, at) => ids.indexOf(id) !== at);
}

/** A browser with this `Cookie` header; "" for one that has none. */
export function tabOf(box: TestBox, cookie: string): Tab {
  const ask = async (path: string, init: RequestInit): Promise<PageAnswer> => {
    const answer = await fetch(box.url + path, {
      redirect: "manual",
      ...init,
      // To compress is tried for itself (test/web/console/door.test.ts).
      headers: {
        accept: "text/html",
        "accept-encoding": "identity",
        ...(cookie === "" ? {} : { cookie }),
        ...init.headers,
      },
    });
    const text = await answer.text();
    if (/^<!doctype html/i.test(text))
      assert.deepEqual(twice(text), [], `ids that stand twice on ${path}`);
    return { status: answer.status, headers: answer.headers, text };
  };
  return {
    cookie,
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, fields = {}, { from, headers = {} } = {}) =>
      ask(path, {
        method: "POST",
        body: new URLSearchParams(fields),
        headers: {
          origin: box.url,
          ...(from === undefined ? {} : { referer: box.url + from }),
          ...headers,
        },
      }),
    sections: (path, ...ids) => ask(path, { headers: { "x-sections": ids.join(",") } }),
  };
}
