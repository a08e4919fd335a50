import assert from "node:assert/strict";
import { box as here } from "../../support/command-line.ts";
import { signedIn } from "../../support/console.ts";
import { boxAndReceiver, reachBy } from "../../support/contacts.ts";
import { long, test } from "../../support/long.ts";
import { findsWhatWasPlanted } from "./look.ts";
import { plants, play } from "./plants.ts";

/** All situations: `npm run test:deep`, planted.deep.ts. */
test("what was planted is found, what looks like it isn't, and a dry run says what the advice says", (t) =>
  findsWhatWasPlanted(t, ["flapping", "flapping by quiet", "flapping, an hour apart", "unheard"], {
    first: 0,
    days: 1,
  }));

const plain = (text: string): string => text.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

long(
  "advice stands on the page of numbers; it opens the rule's form filled in, and goes for 90 days",
  async (t) => {
    const { box, receiver } = await boxAndReceiver(t);
    const ann = box.person("member", "ann@example.org");
    await reachBy(box, ann, receiver);
    const { "flapping by quiet": flapping, unheard } = plants(ann, ann);
    assert.ok(flapping && unheard);
    await play(box, { shop: flapping, lab: unheard }, { first: 0, days: 1 });
    const tab = signedIn(box);
    const section = async (of = tab) =>
      /<section id="advice"[\s\S]*?<section id="people"/.exec(
        (await of.get("/numbers")).text,
      )?.[0] ?? "";
    // The page waits for no dry run: whoever asks for advice does.
    assert.equal((await box.api("GET", "/v1/advice")).body.advice.length, 2);
    const shown = await section();
    assert.match(
      plain(shown),
      /It flaps · shop \/ a 11 of 12 alerts opened within 16 min of the end of the one before\..* it would have opened 1 alert and paged 12 times; it opened 12 and paged 12 times/,
    );
    assert.match(plain(shown), /No rule takes it · lab “c broke” came 6 times at error or above/);
    const to = /href="(\/p\/shop\/rules\/a\?advice=[^"]+)"/.exec(shown)?.[1] ?? "";
    const form = (await tab.get(to)).text;
    assert.match(plain(form), /It is filled in below, and counts once you save\./);
    assert.match(form, /name="reopen_within_seconds"[^>]*value="960"/);
    const saved = (await box.api("GET", "/v1/projects/shop/rules/a")).body;
    assert.equal(saved.reopen_within_seconds, 0, "nothing is changed by looking");
    const fresh = /href="(\/p\/lab\/new-rule\?template=[^"]+)"/.exec(shown)?.[1] ?? "";
    assert.equal((await tab.get(fresh)).status, 200);

    const env = { BOX_KEY: box.owner.key, BOX_URL: box.url };
    const told = await here(["advice"], { env });
    assert.match(
      told.out,
      /^flaps-\d+ {2}shop\/a\n {2}11 of 12 alerts .*\n {2}change: \{"reopen_within_seconds":960\}\n {2}over \d+ days? of kept lines/m,
    );
    const id = /^flaps-\d+/m.exec(told.out)?.[0] ?? "";
    const other = signedIn(box, ann);
    assert.ok(!(await section(other)).includes("Not this"), "a member reads it");
    assert.equal((await tab.post("/numbers/hide", { id }, { from: "/numbers" })).status, 303);
    assert.ok(!(await section()).includes("It flaps"));
    const again = await box.api("POST", `/v1/advice/${id}/hide`);
    assert.equal(again.status, 404);
    const lab = /^unheard-[\w-]+/m.exec(told.out)?.[0] ?? "";
    assert.match((await here(["advice", "hide", lab], { env })).out, /is hidden for 90 days/);
    assert.match((await here(["advice"], { env })).out, /^nothing to advise/);
    const { entries } = (await box.api("GET", "/v1/audit?target=advice")).body;
    assert.equal(entries.length, 2);
  },
);
