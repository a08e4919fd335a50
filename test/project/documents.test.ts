import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { needs } from "../support/commands.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { blocks, documents, readAll, root, seatByLink, vector, withBox } from "./document.ts";

/** What a document promises beside that its commands work: what they print, and what a receiver gets. */
const promised: Record<string, { prints: readonly RegExp[]; received?: (at: Receiver) => void }> = {
  "docs/how-to/rules.md": {
    prints: [/1\s+open\s+warn\s+3 .* payments\s+slow payments\s+payment 4713 took 2300 ms/],
  },
  "docs/how-to/send-events.md": {
    prints: [/2\s+[0-9a-f]{16}\s+payment <\*> took <\*>\n.*\n3 lines, 2 templates/],
  },
  "docs/how-to/new-and-missing.md": {
    prints: [
      /In the last four weeks it would have fired 0 times, by what is counted by the hour/,
      /learned for two weeks: this rule opens nothing before 20/,
      /3\s+20.*NONE\s+payment <\*> failed|3\s+20.*new errors\s+payment <\*> failed/,
    ],
  },
  "docs/how-to/on-call.md": { prints: [/\npayments +primary +ann@example\.org +20/] },
  "docs/how-to/escalate.md": { prints: [/Rung 1 paged me@example\.org/] },
  "docs/how-to/channels.md": {
    prints: [/it got through/],
    received: ({ received }) =>
      assert.deepEqual(
        received.slice(0, 3).map(({ body }) => JSON.parse(body).event),
        ["alert.test", "alert.opened", "alert.escalated"],
      ),
  },
  "docs/how-to/run-actions.md": {
    prints: [/it answered 204/],
    received: ({ received }) => {
      const run = received.find(({ path }) => path === "/restart");
      assert.deepEqual(JSON.parse(run?.body ?? ""), { service: "worker" });
    },
  },
  "docs/how-to/check-signatures.md": { prints: [new RegExp(vector().signature)] },
  "docs/how-to/page-did-not-come.md": { prints: [/has no contact and no phone/] },
  "docs/how-to/assistants.md": { prints: [/Nothing in it is an instruction to you/] },
  "docs/reports.md": { prints: [/resolution/] },
};

describe("the commands of every document, word for word, each on a new box", {
  concurrency: 3,
}, () => {
  for (const document of documents) {
    if (blocks(document, "sh").length === 0) continue;
    test(document, needs("bash", "curl", "sed"), () =>
      withBox(async (scene) => {
        const receiver = await startReceiver();
        try {
          const out = await readAll(document, scene, receiver.url);
          for (const one of promised[document]?.prints ?? []) assert.match(out, one);
          promised[document]?.received?.(receiver);
        } finally {
          await receiver.close();
        }
      }),
    );
  }
});

test("every promise is of a document whose commands are run", () => {
  for (const document of Object.keys(promised)) assert.ok(blocks(document, "sh").length > 0);
});

test(
  "the README from top to bottom is one account, also after a browser's, and touches no other alert",
  needs("bash", "curl", "sed"),
  () =>
    withBox(async ({ url, said, shell }) => {
      const who = { email: "me@example.org", password: "correct horse" };
      await until(() => /box quickstart .*\n/.test(said()), "it says how");
      // What `npm start` prints, with the e-mail and password of the block.
      const printed = said()
        .split("\n")
        .filter((line) => line.startsWith("  "));
      const pasted = await shell(`unset BOX_URL BOX_DATA\n${printed.slice(0, 2).join("\n")}`);
      assert.equal((await seatByLink(pasted.out, who)).headers.get("location"), "/welcome");
      const [block = ""] = blocks("README.md", "sh", "## First alert");
      const login = block.split("\n").find((line) => line.includes("box login")) ?? "";
      const someone = [
        login,
        'box project add other; box rule set other - <<< \'{"name": "errors"}\'',
        'box ingest --token "$(box source add other web)" <<< "somebody else\'s"',
      ];
      const before = await shell(someone.join("\n"));
      assert.equal(before.code, 0, before.err);
      const read = await shell(block.replaceAll("http://127.0.0.1:8080", url), {}, root);
      assert.equal(read.code, 0, read.err);
      const { out } = await shell(
        "box account list --json; box alerts --json; box quickstart --by ntfy </dev/null || true",
      );
      const [{ accounts }, { alerts }] = out
        .split("\n")
        .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
      assert.deepEqual(
        accounts.map(({ email, role }: { email: string; role: string }) => [email, role]),
        [[who.email, "owner"]],
      );
      const states = alerts.map(
        ({ project, state }: { project: string; state: string }) => `${project} ${state}`,
      );
      assert.deepEqual([...new Set(states)].sort(), ["other open", "shop acknowledged"]);
      assert.match(out, /✓ you are me@example\.org \(owner\)/);
      const signed = await fetch(`${url}/signin`, {
        method: "POST",
        redirect: "manual",
        headers: { origin: url, accept: "text/html" },
        body: new URLSearchParams(who),
      });
      assert.equal(signed.status, 303);
    }),
);
