import { learningWords } from "../../../core/projects/learning-words.ts";
import { createPatternTime } from "../../../core/projects/pattern.ts";
import type { RuleBody } from "../../../core/projects/rule.ts";
import { learnedNow } from "../../../core/projects/rule-actions.ts";
import type { Clock } from "../../../ground/kit/clock.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { DEFAULT_LEVEL } from "../event.ts";
import type { DryRunFound, DryRunInput } from "./dry-run.ts";
import { DryEngine } from "./engine.ts";
import { habitsOf } from "./habits.ts";
import { blocksSince, cutAt, eventOf, keptTexts, minerOf, sourcesOf } from "./lines.ts";
import { dryMissing } from "./missing.ts";
import { noveltyOfGiven, noveltyOfKept } from "./novelty.ts";
import { versusOf } from "./versus.ts";
import { readWeeks } from "./weeks.ts";

export interface DryRunOrder {
  projectId: number;
  input: DryRunInput;
  now: number;
  /** Milliseconds after which it answers with what it has. */
  budgetMs: number;
}

const DAY = 86_400;
const USUAL_END = 1800;
const MANY_A_DAY = 20;
/** In addition, for the counts of four weeks. */
const WEEKS_BUDGET_MS = 2000;

/** Runs a rule over the kept lines, or the given ones. Only reads. */
export function runDry(
  reader: Reader,
  clock: Pick<Clock, "mono" | "now">,
  order: DryRunOrder,
): DryRunFound {
  const { projectId, input, now } = order;
  const assumed = input.assume_resolved_after ?? medianEnd(reader, projectId) ?? USUAL_END;
  const gone = { until: 0 };
  const engine = engineOf(reader, clock, { ...order, gone, assumed });
  const begun = clock.mono();
  const asked = now - input.days * DAY;
  const looked =
    input.lines === undefined
      ? keptLines(reader, engine, {
          ...order,
          from: asked,
          isOver: () => clock.mono() - begun > order.budgetMs,
        })
      : givenLines(reader, engine, { projectId, lines: input.lines, now });
  const sources = sourcesOf(reader, projectId);
  const cut = input.lines === undefined ? cutAt(reader, now) : null;
  const isCut = cut !== null && cut > asked;
  const why: DryRunFound["range"]["why"] = looked.why ?? (isCut ? "retention" : null);
  const until = looked.why === null ? now : looked.last;
  const range = { from: isCut ? cut : asked, until, complete: why === null, why };
  const found = engine.finish(until);
  const { alertCount: alert_count, matched, varied } = engine;
  return {
    range,
    scanned: {
      lines: looked.lines,
      ms: Math.round(clock.mono() - begun),
      sources: sources.filter(({ retained }) => retained !== 0).map((source) => source.name),
      sources_without_logs: sources
        .filter(({ retained }) => retained === 0)
        .map((source) => source.name),
    },
    matched,
    alert_count,
    assume_resolved_after: assumed,
    ...found,
    versus: versusOf(reader, { projectId, rule: input.versus }, { alerts: found.alerts, range }),
    weeks: input.weeks
      ? readWeeks(reader, engine.rule, {
          projectId,
          now,
          isOver: () => clock.mono() - begun > order.budgetMs + WEEKS_BUDGET_MS,
        })
      : null,
    warnings: warningsOf(input.rule, {
      learned: learnedNow(reader, { projectId, now }, input.rule),
      matched,
      varied,
      alert_count,
      range,
      sources,
      goneUntil: gone.until,
    }),
  };
}

function engineOf(
  reader: Reader,
  clock: Pick<Clock, "mono" | "now">,
  order: DryRunOrder & { gone: { until: number }; assumed: number },
): DryEngine {
  const { projectId, input, now, gone } = order;
  const isGone = ({ at }: { at: number }) => {
    gone.until = Math.max(gone.until, at);
  };
  const { name, ...body } = input.rule;
  const given = input.lines !== undefined;
  return new DryEngine({
    name,
    body,
    assumedSeconds: order.assumed,
    // The thread does nothing else, and is ended when it takes too long.
    time: createPatternTime(clock, 1),
    noveltyOf: given ? noveltyOfGiven(reader, order) : noveltyOfKept(reader, projectId),
    habitsOf: (rule) => habitsOf(reader, rule, { projectId, given, isGone }),
    missingOf: (rule, time) =>
      dryMissing(reader, rule, {
        projectId,
        time,
        now,
        isGone,
        from: given ? Infinity : now - input.days * DAY,
      }),
  });
}

interface Looked {
  lines: number;
  /** The time of the last line. */
  last: number;
  why: "time" | "memory" | null;
}

function keptLines(
  reader: Reader,
  engine: DryEngine,
  { projectId, from, isOver }: { projectId: number; from: number; isOver(): boolean },
): Looked {
  const textOf = keptTexts(reader, projectId);
  const names = new Map(sourcesOf(reader, projectId).map(({ id, name }) => [id, name]));
  const looked: Looked = { lines: 0, last: from, why: null };
  for (const rows of blocksSince(reader, projectId, from)) {
    for (const row of rows) {
      const { id, received_at: at, source_id: sourceId, template_id: templateId, message } = row;
      looked.lines += 1;
      looked.last = at;
      const text = textOf(templateId, message);
      const source = names.get(sourceId) ?? "";
      const grew = text.root.id !== templateId;
      if (!engine.add({ id, at, sourceId, source, event: eventOf(row), text, grew }))
        return { ...looked, why: "memory" };
    }
    if (isOver()) return { ...looked, why: "time" };
  }
  return looked;
}

/** Pasted lines: all have the same time and no source. */
function givenLines(
  reader: Reader,
  engine: DryEngine,
  { projectId, lines, now }: { projectId: number; lines: readonly string[]; now: number },
): Looked {
  const miner = minerOf(reader, projectId);
  const mined = lines.map((message) => ({ message, text: miner.mine(message) }));
  for (const [id, { message, text }] of mined.entries()) {
    const event = { message, level: DEFAULT_LEVEL, keys: null, tags: null };
    engine.add({ id, at: now, sourceId: 0, source: "", event, text });
  }
  return { lines: lines.length, last: now, why: null };
}

const ENDS = `SELECT resolved_at - opened_at FROM alerts WHERE project_id = ? AND state = 'resolved' AND drill = 0
  ORDER BY id DESC LIMIT 500`;

/** The median duration of the project's latest alerts; null where none has ended. */
function medianEnd(reader: Reader, projectId: number): number | null {
  const lengths = reader.sql<[projectId: number], number>(ENDS).pluck().all(projectId);
  const middle = lengths.toSorted((a, b) => a - b)[lengths.length >> 1];
  return middle === undefined ? null : Math.max(1, middle);
}

const inUtc = (at: number) =>
  `${new Date(at * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;

const variesWords = (lines: number) =>
  `${lines === 1 ? "1 line has" : `${lines} lines have`} the text of template_contains in a part that varies, which no rule looks at: name a part that is always the same, or add a condition on a key.`;

const goneWords = (until: number) =>
  `Until ${inUtc(until)} not all is judged: counts of the weeks before, which the rule itself had, are deleted by now.`;

function warningsOf(
  { match }: RuleBody,
  run: Pick<DryRunFound, "matched" | "alert_count" | "range"> & {
    varied: number;
    /** Some lines until then weren't judged; 0: all were. */
    goneUntil: number;
    learned: ReturnType<typeof learnedNow>;
    sources: readonly { name: string; kind: string }[];
  },
): DryRunFound["warnings"] {
  const { from, until } = run.range;
  const days = Math.max(1, (until - from) / DAY);
  const isTaken = (name: string) => match.sources.length === 0 || match.sources.includes(name);
  const named = run.sources.filter(({ kind, name }) => kind !== "events" && isTaken(name));
  return [
    ...learningWords(run.learned, { now: from, when: inUtc }).map((detail) => ({
      code: "learns",
      detail,
    })),
    ...(run.goneUntil > 0 ? [{ code: "counts_gone", detail: goneWords(run.goneUntil) }] : []),
    ...(run.matched === 0 ? [{ code: "matches_nothing", detail: "No kept line matches." }] : []),
    ...(run.varied > 0 ? [{ code: "text_varies", detail: variesWords(run.varied) }] : []),
    ...(run.alert_count / days > MANY_A_DAY
      ? [{ code: "many_alerts", detail: `More than ${MANY_A_DAY} alerts a day.` }]
      : []),
    ...(named.length > 0
      ? [
          {
            code: "named_by_senders",
            detail:
              `Their senders may name alerts themselves, which kept lines don't show: ${named.map(({ name }) => name).join(", ")}.`.slice(
                0,
                500,
              ),
          },
        ]
      : []),
  ];
}
