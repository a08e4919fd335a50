import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { signedIn } from "../support/console.ts";
import { scratch } from "../support/scratch.ts";

const tenant = (dates: string) => `tenant:
  holidays:
    - name: austria
      dates: ${dates}
`;
const projects = (calendar: string) => `projects:
  - name: shop
    schedules:
      - name: night
        timezone: UTC
        layers:
          - name: days
            participants: [owner@example.org]
            rotation_start: 2026-01-05 09:00
            shift_minutes: 1440
            restriction:
              start_minute: 0
              end_minute: 1440
              holidays: {calendar: ${calendar}, mode: out}
`;
const file = (dates: string, calendar = "austria") =>
  `format: 1\n${tenant(dates)}${projects(calendar)}`;

test("holidays of a file are set before the schedules that name them, change with it, and come back", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const path = join(scratch(t), "box.yaml");
  const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
  const config = (...words: string[]) => run(["config", ...words], { env });
  const apply = (text: string, ...more: string[]) => {
    writeFileSync(path, text);
    return config("apply", path, ...more);
  };
  const days = async () =>
    (await box.api("GET", "/v1/holidays")).body.holidays.map(
      ({ name, dates }: { name: string; dates: { date: string; name: string }[] }) =>
        `${name}: ${dates.map((one) => `${one.date} ${one.name}`.trimEnd()).join(", ")}`,
    );
  const first = file("[2026-12-26, {date: 2026-12-25, name: Christmas}]");

  const plan = await apply(first, "--dry-run");
  assert.equal(plan.code, 0, plan.err);
  assert.match(
    plan.out,
    /the whole box\n {2}create holidays austria\n\+ 2026-12-25 Christmas\n\+ 2026-12-26\n/,
  );
  assert.deepEqual(await days(), [], "it was only tried");
  const unknown = await apply(file("[]", "bavaria"), "--dry-run");
  assert.match(unknown.err, /there are no holidays of this name \(bavaria\)/);
  const faulty = await apply(file("[2026-02-30]"), "--dry-run");
  assert.match(faulty.err, /line 5: \/tenant\/holidays\/0\/dates\/0 must be a date/);

  const applied = await apply(first);
  assert.equal(applied.code, 0, applied.err);
  assert.deepEqual(await days(), ["austria: 2026-12-25 Christmas, 2026-12-26"]);
  assert.match((await config("apply", path)).out, /applied 0 changes\n$/);
  const exported = (await config("export")).out;
  assert.match(exported, /^tenant:\n {2}holidays:\n {4}- name: austria\n/m);
  assert.match((await apply(exported, "--dry-run", "--exit-code")).out, /nothing changes/);
  const page = await signedIn(box).get("/system/config");
  if (page.status === 200) assert.match(page.text, /austria/);

  const changed = await apply(file("[2026-12-26, 2026-10-26]"), "--dry-run", "--exit-code");
  assert.equal(changed.code, 2);
  assert.match(
    changed.out,
    /update holidays austria\n(?:- 2026-12-25 Christmas\n\+ 2026-10-26|\+ 2026-10-26\n- 2026-12-25 Christmas)\n {2}2026-12-26\n/,
  );
  assert.equal((await config("apply", path)).code, 0);
  assert.deepEqual(await days(), ["austria: 2026-10-26, 2026-12-26"]);
  // Left out they stay; what is named can't go, and is refused before anything else is done.
  assert.match((await apply(`format: 1\n${projects("austria")}`)).out, /applied 0 changes\n$/);
  const empty = "format: 1\ntenant: {holidays: []}\n";
  const used = await apply(`${empty}${projects("austria")}`, "--delete");
  assert.match(
    used.err,
    /holidays austria: the file has none of this name, and shop\/night names it/,
  );
  const elsewhere = await apply(`${empty}projects: []\n`, "--delete");
  assert.match(elsewhere.err, /shop\/night names it/);
  const bare = projects("austria").replace(/ +restriction:[\s\S]*$/, "");
  assert.match((await apply(`${empty}${bare}`)).err, /would delete\n {2}holidays austria\n/);
  const gone = await apply(`${empty}${bare}`, "--delete");
  assert.equal(gone.code, 0, gone.err);
  assert.deepEqual(await days(), []);
});
