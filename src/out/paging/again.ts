import type { Reader } from "../../ground/store/store.ts";
import { clockOfPerson } from "../../people/reader-clock.ts";
import type { EventBody } from "../outbox/event.ts";
import type { EventNames } from "../outbox/event-names.ts";
import type { DirectMessage } from "../services/direct-message.ts";
import { rightOf } from "./right.ts";
import { type PagedAlert, pageMessage } from "./say.ts";

const EVENT = `SELECT v.body, v.said FROM pages p JOIN events v ON v.id = p.event_row WHERE p.id = ?`;

/** What a message said, for whoever wants to hear it again; null where it can be answered no more, or isn't kept. */
export function messageAgain(reader: Reader, now: number, handle: string): DirectMessage | null {
  const right = rightOf(reader, now, { handle });
  const [first, ...others] = (right?.named ?? []).flatMap(({ pages }): PagedAlert[] => {
    const row = reader
      .sql<[id: number], { body: string; said: string | null }>(EVENT)
      .get(pages.at(-1) ?? 0);
    if (row === undefined) return [];
    const said = row.said === null ? null : (JSON.parse(row.said) as EventNames);
    return [{ event: JSON.parse(row.body) as EventBody, said }];
  });
  if (right === null || first === undefined) return null;
  return pageMessage([first, ...others], {
    id: first.event.event_id,
    link: () => null,
    clock: clockOfPerson(reader, right.accountId),
    ack: { url: null, handle },
  });
}
