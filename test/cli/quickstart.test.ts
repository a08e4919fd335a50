import assert from "node:assert/strict";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import jsQR from "jsqr";
import { runProgram } from "../../cli/box.ts";
import { createProgram } from "../../cli/program.ts";
import { qrLines } from "../../cli/qr.ts";
import { onTerminal } from "../../cli/terminal.ts";
import { blocks, type Scene, withBox } from "../project/document.ts";
import { needs } from "../support/commands.ts";
import { openNtfy, pressNtfy } from "../support/ntfy.ts";
import { answer, type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** A command that is spoken to while it runs. */
interface Talk {
  said(): string;
  /** Waits for a question, and answers it. */
  reply(question: RegExp, line: string): Promise<void>;
  ended: Promise<number>;
}

function talk(words: readonly string[], home: string): Talk {
  let said = "";
  const pipe = () => new PassThrough().on("data", (chunk) => (said += chunk));
  const stdin = new PassThrough();
  const env = { HOME: home };
  const terminal = { env, stdin, stdout: pipe(), stderr: pipe() };
  let from = 0;
  return {
    said: () => said,
    ended: onTerminal(terminal, () => runProgram(createProgram(), words)),
    async reply(question, line) {
      await until(() => question.test(said.slice(from)), `it asks ${question}: ${said}`);
      from = said.length;
      stdin.write(`${line}\n`);
    },
  };
}

async function withPhone(
  t: TestContext,
  play: (at: Scene & { phone: ReturnType<typeof openNtfy>; server: Receiver }) => Promise<void>,
): Promise<void> {
  const server = await startReceiver();
  t.after(() => server.close());
  const phone = openNtfy();
  server.always(phone.behaviour);
  await withBox((scene) => play({ ...scene, phone, server }));
}

const topicIn = (said: string) => /^ +(box-\w{20}) +on 127/m.exec(said)?.[1] ?? "";
const codeIn = (message: { title?: string } | undefined) =>
  /\b(\d{3}) ?(\d{3})\b/.exec(JSON.stringify(message))?.slice(1).join("") ?? "";

test(
  "from nothing to a phone that rings: three questions, and its button ends the test",
  needs("bash"),
  (t) =>
    withPhone(t, async ({ url, home, shell, phone, server }) => {
      const [command = ""] = blocks("docs/how-to/first-page.md", "console", "## At a terminal");
      assert.equal(command.split("\n")[0], "box quickstart");
      const flags = ["--url", url, "--data", join(home, "data"), "--server", server.url];
      const run = talk(["quickstart", ...flags], home);
      await run.reply(/^Your e-mail: $/m, "ann@example.org");
      await run.reply(/^\[ntfy: free, no account\] $/m, "");
      await until(() => topicIn(run.said()) !== "", "it shows the topic");
      const topic = topicIn(run.said());
      await until(() => phone.on(topic).length === 1, "the code comes by the topic");
      await run.reply(/^The code that was sent by phone/m, codeIn(phone.on(topic)[0]));
      await run.reply(/^Shall I ring you now, as a test\? /m, "y");
      await until(() => /press Acknowledge/.test(run.said()), `it rings: ${run.said()}`);
      const page = phone.on(topic).at(-1);
      assert.ok(page);
      assert.equal(page.priority, 5);
      await pressNtfy(page, "Acknowledge");
      assert.equal(await run.ended, 0, run.said());
      assert.match(
        run.said(),
        /^Acknowledged on that phone \(ntfy\), \d+(\.\d)? s after the event\.$/m,
      );
      for (const link of [
        "you are ann@example.org (owner)",
        "ntfy answers at",
        "is verified",
        "pages you",
        "accepted the page, ",
      ])
        assert.ok(run.said().includes(link), `${link} in ${run.said()}`);
      assert.ok(run.said().endsWith(`\nAll of it in a browser: ${url}/signin\n`), run.said());

      // Once more: what is there is used, and nothing is asked but whether to ring.
      const again = talk(["quickstart", ...flags, "--by", "ntfy", "--no-test", "--json"], home);
      assert.equal(await again.ended, 0, again.said());
      assert.match(
        again.said(),
        /"email":"ann@example\.org","project":"quickstart","contact":\{"id":/,
      );
      const contacts = talk(["contact", "list", "--json", "--url", url], home);
      assert.equal(await contacts.ended, 0, contacts.said());
      assert.equal(contacts.said().match(/"kind":"ntfy"/g)?.length, 1, contacts.said());
      const topics = server.received.flatMap(({ body }) => /box-\w{20}/.exec(body)?.[0] ?? []);
      assert.deepEqual([...new Set(topics)], [topic], "no second topic");

      // The default ladder of a project, where it pages this person; else a step of the rule's own.
      const file = `format: 1
tenant: {ladders: [{name: mine, steps: [{accounts: [ann@example.org]}]}, {name: empty}]}
projects: [{name: two, default_ladder: mine}, {name: three, default_ladder: empty}]`;
      const applied = await shell(`printf %s "$FILE" | box config apply -`, { FILE: file });
      assert.equal(applied.code, 0, applied.err);
      const ruleOf = async (project: string) => {
        const more = ["--project", project, "--by", "ntfy", "--no-test", "--json"];
        const made = talk(["quickstart", ...flags, ...more], home);
        assert.equal(await made.ended, 0, made.said());
        const { out } = await shell(`box rule list ${project} --json`);
        const [rule] = JSON.parse(out).rules;
        return [rule.name, rule.ladder, rule.escalations.length];
      };
      assert.deepEqual(await ruleOf("two"), ["errors", "mine", 1]);
      assert.deepEqual(await ruleOf("three"), ["errors", null, 1]);
    }),
);

test("where it doesn't come through it says at which link the chain stands", needs("bash"), (t) =>
  withPhone(t, async ({ url, home, phone, server }) => {
    const flags = ["--url", url, "--data", join(home, "data"), "--server", server.url];
    const words = ["quickstart", ...flags, "--email", "ann@example.org", "--by", "ntfy", "--test"];
    const stands = async (run: Talk, where: RegExp) => {
      assert.equal(await run.ended, 1, run.said());
      assert.match(run.said(), where);
    };
    server.always(answer(503));
    await stands(
      talk(words, home),
      /box: it stopped at the gateway ntfy: The test of these settings failed, so nothing was changed: http 503\.\n$/,
    );

    server.always((response, socket, request) =>
      request.path === "/"
        ? void response.writeHead(507).end()
        : phone.behaviour(response, socket, request),
    );
    await stands(
      talk(words, home),
      /box: it stopped at your contact: the code could not be sent: http 507/,
    );

    server.always(phone.behaviour);
    // The topic of the run before is asked for, or given up: there is one in the end.
    const late = talk([...words, "--wait", "2s"], home);
    await late.reply(/^An earlier run made phone .* subscribed to it\? /m, "n");
    await until(() => topicIn(late.said()) !== "", "it shows the topic");
    const topic = topicIn(late.said());
    await until(() => phone.on(topic).length === 1, "the code comes");
    await late.reply(/^The code that was sent by phone/m, codeIn(phone.on(topic)[0]));
    await stands(
      late,
      /box: it stopped: ntfy accepted the page for phone .*, and nobody has answered\./,
    );

    server.always(answer(400, { error: "the topic is reserved" }));
    await stands(
      talk([...words, "--wait", "3s"], home),
      /box: it stopped: ntfy (refused the page|has not accepted the page): http 400/,
    );
  }),
);

test("without a person to ask, each question names its flag", needs("bash"), () =>
  withBox(async ({ url, home, shell }) => {
    const asked = async (words: string) => {
      const { code, err } = await shell(`box quickstart ${words} < /dev/null`);
      assert.equal(code, 2, err);
      return err.trimEnd().split("\n").at(-1);
    };
    assert.equal(await asked(""), "box: --email is needed");
    assert.equal(await asked("--email ann@example.org"), "box: --by is needed");
    assert.match(
      (await asked("--by pigeon")) ?? "",
      /^box: "pigeon" is no way to be rung; there is /,
    );
    assert.equal(await asked("--by telegram"), "box: set it up first: box gateway set telegram");
    const none = talk(
      ["quickstart", "--url", "http://127.0.0.1:1", "--data", join(home, "data")],
      home,
    );
    assert.equal(await none.ended, 1);
    assert.match(none.said(), /nothing listens there\. Is the box running/);
    assert.ok(url);
  }),
);

test("the QR code in the terminal reads as the topic's address", async () => {
  const text = "https://ntfy.sh/box-0123456789abcdefghij";
  const rows = (await qrLines(text)).map((line) => [...line.replace(/\x1b\[[\d;]*m/g, "")]);
  const width = rows[0]?.length ?? 0;
  const SCALE = 4;
  const size = { w: width * SCALE, h: rows.length * 2 * SCALE };
  const pixels = new Uint8ClampedArray(size.w * size.h * 4).fill(255);
  for (let y = 0; y < size.h; y++)
    for (let x = 0; x < size.w; x++) {
      const row = Math.floor(y / SCALE);
      const cell = rows[Math.floor(row / 2)]?.[Math.floor(x / SCALE)];
      const isLight = cell === "█" || cell === (row % 2 === 0 ? "▀" : "▄");
      pixels.fill(isLight ? 255 : 0, (y * size.w + x) * 4, (y * size.w + x) * 4 + 3);
    }
  assert.equal(jsQR.default(pixels, size.w, size.h)?.data, text);
});

test(
  "run again before the code was typed, it goes on with the topic that the phone has",
  needs("bash"),
  (t) =>
    withPhone(t, async ({ url, home, phone, server }) => {
      const flags = ["--url", url, "--data", join(home, "data"), "--server", server.url];
      const words = ["quickstart", ...flags, "--email", "ann@example.org", "--by", "ntfy"];
      const first = talk([...words, "--no-test"], home);
      await until(() => topicIn(first.said()) !== "", "it shows the topic");
      const topic = topicIn(first.said());
      await until(() => phone.on(topic).length === 1, "the code comes");
      await first.reply(/^The code that was sent by phone/m, "");
      assert.equal(await first.ended, 1, first.said());
      const again = talk([...words, "--no-test"], home);
      await again.reply(/subscribed to it\? /m, "");
      await until(() => phone.on(topic).length === 2, "the code comes by the same topic");
      await again.reply(/^The code that was sent by phone/m, codeIn(phone.on(topic)[1]));
      assert.equal(await again.ended, 0, again.said());
      assert.equal(topicIn(again.said()), "", "no second one");
    }),
);
