import { LRUCache } from "lru-cache";
import { patternTimeOf } from "../../core/projects/pattern.ts";
import { findSource, type Source, sourceById } from "../../core/projects/sources.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { turns } from "../../ground/kit/turns.ts";
import { mayConfirm } from "../../ground/store/durable.ts";
import type { Store, Tx } from "../../ground/store/store.ts";
import type { Arrival, IngestAnswer } from "./arrival.ts";
import { type BatchLimits, createBatcher, defaultBatchLimits, type Settle } from "./batcher.ts";
import type { IngestEvent } from "./event.ts";
import { noteDowntime } from "./first-seen.ts";
import { namesOfTakers } from "./match.ts";
import { createReceivedBook, type ReceivedBook } from "./received.ts";
import { createRefusedBook, type RefusedBook } from "./refused.ts";
import { type Replicas, watchReplicas } from "./replicas.ts";
import { createSeenIds, type SeenIds } from "./seen.ts";
import type { SourceTally } from "./tally.ts";
import { readTemplates, type TemplatesAnswer, type TemplatesQuery } from "./templates.ts";
import {
  type AlsoWritten,
  createWriter,
  defaultWriterLimits,
  type Writer,
  type WriterLimits,
} from "./writer.ts";

/** The whole interface of the hot path, which could run in another thread. */
export interface IngestHandle {
  /** The source of a token, from memory; null for any other token. */
  authenticate(token: string): Source | null;
  /**
   * Queues events that are committed together. Calls `settle` when the commit is durable, or with the error that
   * prevented it; with not_ready where it is committed and not durable within seconds.
   * Throws ServiceError storage_full or overloaded before anything is queued; overloaded comes later for `isLast`.
   */
  submit(source: Source, events: readonly IngestEvent[], settle: Settle, isLast?: boolean): void;
  /**
   * Takes some of the events that another machine has confirmed (`toldOf`), at least one, in one transaction with `also`,
   * which is told how many. Those of a source that is gone are passed over.
   */
  takeOver(events: readonly ToldEvent[], also: (tx: Tx, taken: number) => void): number;
  /** The names of the rules that match this event each time it comes, whatever their windows count. */
  takers(source: Source, event: IngestEvent): string[];
  /** The keys that the project's rules use, from memory. */
  watched(projectId: number): ReadonlySet<string>;
  /** The source's first event since the first call of this, once it is committed. */
  listen(sourceId: number): FirstHeard | null;
  /** The present root of a template id, and its text. */
  rootOf(projectId: number, templateId: string): string;
  templates(projectId: number, query: TemplatesQuery): TemplatesAnswer;
  /** Refuses events from now on while the disk is nearly full; acknowledgements, reads and pages go on. */
  shed(why: "storage_full" | null): void;
  /** Writes what is queued, and what else is only in memory. */
  drain(): void;
  /** Looks at what waits and is due. When the next is (Unix seconds; now or earlier: there is more; null: nothing waits). */
  readonly openWaiting: Writer["openWaiting"];
  /** Opens alerts for what no longer comes. When again (Unix seconds; now: there is more; null: no rule asks). */
  lookForMissing(): number | null;
  /** When it has to look for that again if no event comes until then, Unix seconds; null: never. */
  readonly nextMissing: Writer["nextMissing"];
  /** The latest report of an alert that isn't written yet. */
  readonly laterReport: Writer["laterReport"];
  stats(): IngestStats;
  /** The counts of each source that sent something since the start. */
  tallies(): SourceTally[];
  /** For each source: the time of its latest event, and its events of the last hour. */
  heardLately(): HeardLately[];
  /** Pairs of servers that send every alert twice. */
  replicas(): Replicas[];
  /** Refused events and the reasons, also of those that didn't reach this. */
  readonly refused: RefusedBook;
  /** Ids of accepted events, of senders that repeat requests. */
  readonly seen: SeenIds;
  /** Bodies of sources whose format a person maps. */
  readonly received: ReceivedBook;
}

/** An event that was confirmed, as it is noted for another machine. */
export interface ToldEvent {
  source: number;
  event: IngestEvent;
}

const toldOf = ({ source, event }: Arrival): ToldEvent => ({ source: source.id, event });

/** A source's first event and its result. */
interface FirstHeard {
  at: number;
  source: Source;
  event: IngestEvent;
  templateId: string;
}

interface HeardLately {
  sourceId: number;
  lastEventAt: number | null;
  /** Sixty counts, the present minute's last. */
  minutes: number[];
}

interface IngestStats {
  waiting: number;
  accepted: number;
  shed: number;
  batches: number;
  templates: number;
  templatesOverflowed: number;
  hoursOverflowed: number;
}

const MOST_TOKENS = 10_000;
const TAKEN_AT_ONCE = 200;
/** A shorter time in which events are refused is no pause. */
const REFUSED_SECONDS = 60;
/** Sources that callers wait for. */
const MOST_LISTENED = 50;

export function createIngest(
  store: Store,
  limits: { batch?: BatchLimits; writer?: WriterLimits; failed?: (error: unknown) => void } = {},
  onTaken: (batch: readonly Pick<Arrival, "source">[]) => void = () => {},
): IngestHandle {
  const writer = createWriter(store, limits.writer ?? defaultWriterLimits, limits.failed);
  const tokens = new ForgetfulMap<string, Source>(MOST_TOKENS);
  const counted = { accepted: 0, shed: 0, batches: 0 };
  const refused = createRefusedBook(store.clock);
  const seen = createSeenIds();
  const received = createReceivedBook(store.clock);
  const replicas = watchReplicas();
  /** The latest events before the start; read once. */
  let before: HeardLately[] | null = null;
  let shedding: "storage_full" | null = null;

  /** While it refuses events nothing is silent. */
  let refusedSince: number | null = null;
  const noteRefused = () => {
    const until = unixSeconds(store.clock);
    if (refusedSince === null || until - refusedSince < REFUSED_SECONDS) return;
    const seconds = until - refusedSince;
    store.write((tx) => noteDowntime(tx, { until, seconds }));
    refusedSince = until;
  };

  const isLive = (sourceId: number) =>
    store.sql<[sourceId: number]>("SELECT 1 FROM sources WHERE id = ?").get(sourceId) !== undefined;
  let checked = new Set<number>();
  store.onCommit((notes) => {
    if (!notes.some((note) => note.topic === "sources")) return;
    tokens.clear();
    checked = new Set();
    writer.tally.prune(isLive);
    refused.prune(isLive);
    received.prune(isLive);
    replicas.prune(isLive);
  });

  const listened = new LRUCache<number, { heard: FirstHeard | null }>({ max: MOST_LISTENED });
  const noteFirst = (batch: readonly Arrival[], answers: readonly IngestAnswer[]) => {
    for (const [i, { template_id: templateId }] of answers.entries()) {
      const { source, event } = batch[i] as Arrival;
      const entry = listened.get(source.id);
      if (entry?.heard === null)
        entry.heard = { at: unixSeconds(store.clock), source, event, templateId };
    }
  };

  /** A source can be deleted while its events wait: they are refused as its next request would be. */
  const processLive = (batch: readonly Arrival[], also?: AlsoWritten): IngestAnswer[] => {
    for (const { source } of batch) {
      if (checked.has(source.id)) continue;
      if (!isLive(source.id))
        throw new ServiceError("unauthorized", "The source of this token was deleted.");
      checked.add(source.id);
    }
    const answers = writer.process(batch, also);
    if (listened.size > 0) noteFirst(batch, answers);
    for (const { source, event } of batch.slice(0, answers.length)) replicas.note(source, event);
    counted.batches++;
    counted.accepted += answers.length;
    onTaken(batch.slice(0, answers.length));
    return answers;
  };
  const batcher = createBatcher(
    {
      process: (batch) => turns.during("events", () => processLive(batch)),
      commitMs: () => store.commitMs,
      now: () => store.clock.mono(),
      mayTell: (written) => mayConfirm(store, () => written.map(toldOf)),
    },
    limits.batch ?? defaultBatchLimits,
  );

  return {
    authenticate(token) {
      const known = tokens.get(token);
      if (known !== undefined) return known;
      const source = findSource(store, token);
      if (source === null) return null;
      tokens.set(token, source);
      return source;
    },
    submit(source, events, settle, isLast = false) {
      try {
        if (shedding !== null)
          throw new ServiceError(
            "storage_full",
            "The disk is nearly full: events are refused for now.",
            { retryAfter: 5 },
          );
        batcher.submit(
          events.map((event, i) => ({ source, event, more: i < events.length - 1 })),
          settle,
          isLast,
        );
      } catch (error) {
        counted.shed += events.length;
        throw error;
      }
    },
    takeOver(events, also) {
      const first = sourceById(store, events[0]?.source ?? 0);
      // A prefix whose sources are there, or the one whose isn't.
      const batch: Arrival[] = [];
      for (const { source: id, event } of first === null ? [] : events.slice(0, TAKEN_AT_ONCE)) {
        const source = sourceById(store, id);
        if (source === null) break;
        batch.push({ source, event });
      }
      if (batch.length > 0) return processLive(batch, also).length;
      store.write((tx) => also(tx, 1));
      return 1;
    },
    takers(source, event) {
      const { rules } = writer.project(source.projectId);
      const time = patternTimeOf(store);
      return namesOfTakers(rules.all, { source: source.name, event, time });
    },
    watched: (projectId) => writer.project(projectId).rules.watched(),
    listen(sourceId) {
      const entry = listened.get(sourceId) ?? { heard: null };
      listened.set(sourceId, entry);
      return entry.heard;
    },
    rootOf: (projectId, templateId) => writer.project(projectId).miner.rootOf(templateId),
    templates(projectId, query) {
      const of = { projectId, state: writer.project(projectId) };
      return readTemplates(store, { ...of, waiting: writer.counts.waiting(projectId) }, query);
    },
    shed(why) {
      if (why === null) noteRefused();
      shedding = why;
      refusedSince = why === null ? null : (refusedSince ?? unixSeconds(store.clock));
    },
    drain() {
      batcher.drain();
      writer.finish();
    },
    openWaiting: writer.openWaiting,
    lookForMissing() {
      if (shedding === null) return writer.lookForMissing();
      noteRefused();
      return unixSeconds(store.clock) + REFUSED_SECONDS;
    },
    nextMissing: writer.nextMissing,
    laterReport: writer.laterReport,
    stats() {
      const { templates, overflowed, hoursOverflowed } = writer.stats();
      return {
        waiting: batcher.waiting,
        ...counted,
        templates,
        templatesOverflowed: overflowed,
        hoursOverflowed,
      };
    },
    tallies: () => writer.tally.all(),
    heardLately() {
      before ??= heardBefore(store);
      const now = unixSeconds(store.clock);
      const since = writer.tally
        .hours(now)
        .map(({ seenAt, ...hour }): HeardLately => ({ ...hour, lastEventAt: seenAt }));
      const known = new Set(since.map(({ sourceId }) => sourceId));
      return [...since, ...before.filter(({ sourceId }) => !known.has(sourceId))];
    },
    replicas: replicas.all,
    refused,
    received,
    seen,
  };
}

const LATEST = "SELECT source_id AS sourceId, max(last_seen) AS at FROM template_counts GROUP BY 1";

/** When each source last sent something, from the counts of templates. */
function heardBefore(store: Store): HeardLately[] {
  return store
    .sql<[], { sourceId: number; at: number }>(LATEST)
    .all()
    .map(({ sourceId, at }) => ({
      sourceId,
      lastEventAt: at,
      minutes: new Array<number>(60).fill(0),
    }));
}
