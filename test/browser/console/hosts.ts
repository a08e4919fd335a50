/** Twelve hosts of two services are down, as Alertmanager tells of them: one looks at each, silences one, and takes the rest as a group. */
import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { hostsOf } from "../../support/twelve-hosts.ts";
import { settle } from "../../support/until.ts";
import { onStage, seen } from "./stage.ts";

const titles = `[...document.querySelectorAll("[data-row] .row-title")].map((one) => one.textContent.trim())`;
const rows = `[...document.querySelectorAll("[data-row]")].map((one) => one.textContent.replace(/\\s+/g, " "))`;

export const hostsHold = (browser: Browser) =>
  onStage(browser, async ({ box, visit, calm }) => {
    const go = await hostsOf(box);
    await go("down");
    await settle(box);
    const tab = await visit("/alerts");
    const { page } = tab;
    await seen(tab, `/any: 12 alerts.*alertname=HostDown/.test(${rows}[0])`);
    await calm(tab, "twelve hosts in one row");

    // Each of them, by its own title and what tells it from the others.
    await Promise.all([page.waitForURL(/rule/), page.click("[aria-label='Open any']")]);
    const hosts = ["db", "web"].flatMap((kind) => [1, 2, 3, 4, 5, 6].map((n) => `${kind}${n}`));
    assert.deepEqual(
      ((await tab.run(titles)) as string[]).toSorted(),
      hosts.map((host) => `${host} is down`),
    );
    for (const row of (await tab.run(rows)) as string[]) {
      const [, host = ""] = /(\w+\d) is down/.exec(row) ?? [];
      assert.ok(row.includes(`host=${host}`), row);
    }
    await calm(tab, "each of twelve hosts");

    // The menus of labels count, and narrow the list.
    const menu = async (name: string, value: string) => {
      if (!(await tab.run(`document.querySelector("#filters").open`)))
        await page.click("#filters > summary");
      await page.click(`#filters summary:has-text("${name}")`);
      await Promise.all([
        page.waitForURL(/label/),
        page.click(`#filters details[open] a:has-text("${value}")`),
      ]);
    };
    await menu("service", "billing");
    const narrowed = (await tab.run(titles)) as string[];
    assert.deepEqual(
      narrowed.toSorted(),
      hosts.slice(0, 6).map((host) => `${host} is down`),
    );
    await page.click("#filters > summary");
    await page.click(`#filters summary:has-text("host")`);
    const gap = `(([one]) => one.querySelector(".soft").getBoundingClientRect().left - (() => { const text = document.createRange(); text.selectNode(one.firstChild); return text.getBoundingClientRect().right; })())([...document.querySelectorAll("#filters details[open] a")].filter((one) => /db1/.test(one.textContent)))`;
    assert.ok(Number(await tab.run(gap)) >= 8, "db1 and how many it finds are told apart");
    // What the open menu covers in part is as large as before: the rows are looked at in other states.
    const list = `document.querySelector("[data-row]").closest("section").style.visibility`;
    await tab.run(`${list} = "hidden"`);
    await calm(tab, "the menus of labels");
    await tab.run(`${list} = ""`);
    await page.click(`#filters summary:has-text("host")`);
    await menu("host", "db3");
    assert.deepEqual(await tab.run(titles), ["db3 is down"]);

    // The silence that is offered takes this host alone.
    await Promise.all([page.waitForURL(/\/a\/\d+/), page.click("text=db3 is down")]);
    await calm(tab, "an alert with its links");
    await page.keyboard.press("s");
    await page.check("#silence-critical");
    await seen(
      tab,
      `/Now: silences 1 open alert\\./.test(document.querySelector("#would").textContent)`,
    );
    await calm(tab, "one host's silence, before it is made");
    await page.click("#silence button:text-is('1 hour')");
    await seen(tab, `/Quiet until/.test(document.querySelector("#now").textContent)`);
    const { alerts } = (await box.api("GET", "/v1/alerts?silenced=true")).body;
    assert.deepEqual(
      alerts.map((one: { title: string }) => one.title),
      ["db3 is down"],
    );

    // Whoever takes the group leaves the silenced one, and all end with their sender.
    await page.goto(`${box.url}/alerts`);
    await page.click("[aria-label='Acknowledge all 11 of any']");
    await seen(
      tab,
      `/Acknowledged 11 alerts\\. 1 silenced alert stays open/.test(document.querySelector("#said").textContent)`,
    );
    await go("up");
    await settle(box);
    await page.goto(`${box.url}/alerts`);
    assert.deepEqual(await tab.run(titles), []);
  });
