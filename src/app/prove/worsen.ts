import type { RunEvidence, SeenMessage } from "./evidence.ts";
import type { Seeded } from "./seeded.ts";
import { findAlert, type Quietly } from "./silences.ts";
import { CRITICAL_LEVEL, paging, quietSetting } from "./world.ts";

/** What these steps enter in the ledger. */
type Worsened = Pick<RunEvidence, "rings" | "rises" | "pressed" | "verbs">;

const BAD = 400;
/** Rules that it makes for crowds. Each costs every event of the project a look, and a project has 500 at most. */
export const MOST_CROWDS = 100;

/**
 * One step of trouble that grows: "too many to list" is acknowledged and then gets worse, which opens it again; an alert
 * becomes critical; or an alert pages a person, who presses the link in any earlier page for one alert that it names.
 * Answered requests are entered in the ledger; a press is entered before it is sent.
 */
export function createWorsener(
  deps: Quietly<Worsened> & { told: readonly SeenMessage[]; critical: string },
): (choice: Seeded) => Promise<void> {
  const { api, clock, token, ledger, told, critical } = deps;
  const linked = new Set<string>();
  let turns = 0;
  let crowds = 0;

  /** Throws where it wasn't answered that it is stored. */
  const fails = async (host: string, of: { tag: string; level: number }) => {
    const { tag, level } = of;
    const body = JSON.stringify({ message: `${tag} is bad`, level, keys: { host }, tags: [tag] });
    const { status } = await api.send("/v1/ingest", {
      bearer: token,
      type: "application/json",
      body,
    });
    if (status !== 202) throw new Error(`it was answered ${status}`);
  };
  const paged = (host: string) =>
    findAlert(api, (one) => one.rule === paging.name && one.identifiers["host"] === host);

  const crowd = async (name: string) => {
    crowds += 1;
    const rule = { name, match: { tags: [name] }, identifier_keys: ["host"], max_open: 1 };
    await api.need("POST", `/v1/projects/${quietSetting.name}/rules`, rule);
    await fails(`${name}-own`, { tag: name, level: BAD });
    await fails(`${name}-more`, { tag: name, level: BAD });
    const alertId = await findAlert(
      api,
      (one) => one.rule === name && one.identifiers["host"] === undefined,
    );
    await api.need("POST", `/v1/alerts/${alertId}/ack`);
    await fails(`${name}-worse`, { tag: name, level: CRITICAL_LEVEL });
    ledger.rings.push({ alertId, until: Math.floor(clock.now() / 1000) });
  };

  const rise = async (host: string) => {
    await fails(host, { tag: paging.name, level: BAD });
    const alertId = await paged(host);
    await fails(host, { tag: paging.name, level: CRITICAL_LEVEL });
    ledger.rises.push({ alertId, contactId: critical });
  };

  const press = async (host: string, choice: Seeded) => {
    await fails(host, { tag: paging.name, level: BAD });
    linked.add(await paged(host));
    const open = told.flatMap(({ link, alertIds }) =>
      alertIds.flatMap((id) => (link !== null && linked.has(id) ? [{ link, id }] : [])),
    );
    if (open.length === 0) return;
    const { link, id } = choice.pick(open);
    linked.delete(id);
    ledger.pressed.push(id);
    const { status } = await api.send(link, {
      bearer: "",
      type: "application/x-www-form-urlencoded",
      body: `verb=acknowledge&alert=${id}`,
    });
    if (status === 200) ledger.verbs.push({ verb: "ack", alertId: id });
  };

  return (choice) => {
    turns += 1;
    const steps = [rise, press, press, ...(crowds < MOST_CROWDS ? [crowd] : [])];
    return choice.pick(steps)(`grown${turns}`, choice);
  };
}
