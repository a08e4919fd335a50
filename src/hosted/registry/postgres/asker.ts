import type { Clock } from "../../../ground/kit/clock.ts";

/** Asks one thing; settles with its own answer, whoever was asked for with it. */
export type BatchAsker<Question, Answer> = (question: Question) => Promise<Answer>;

export interface BatchAskerOptions<Question, Answer> {
  /** Asks for all of them at once: their keys differ and rise. The answers, in the same order. */
  answer(questions: readonly Question[]): Promise<readonly Answer[]>;
  /** The row that it is about: of two with one key the second waits until the first is answered. */
  key(question: Question): string;
  /**
   * Whether those of a failed batch may fare better alone. Not so where nobody answers at all: then whoever waits is told
   * at once, too, so that nobody waits for longer than one batch may take.
   */
  mayDiffer(error: unknown): boolean;
  /** What a question is told for which there is no room. */
  full(): Error;
  /** Called for each batch that is asked, with how many it is for. */
  counted?(rows: number): void;
  /** In one batch. Default 200. */
  most?: number;
  /** That wait for a batch. Default 10,000. */
  mostWaiting?: number;
  /** Batches under way at one time. Default 2. */
  atOnce?: number;
  /** For how long the first waits for company, where the answer isn't urgent. Without: not at all. */
  company?: { clock: Clock; ms: number };
}

interface Member<Question, Answer> {
  question: Question;
  key: string;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * What is asked in one turn of the event loop, or while every batch is under way, becomes one batch. A lone question goes
 * at once. If a batch fails, each of it is asked once more by itself, so that none fails for another's fault.
 */
export function batchAsker<Question, Answer>(
  options: BatchAskerOptions<Question, Answer>,
): BatchAsker<Question, Answer> {
  const { most = 200, atOnce = 2, mostWaiting = 10_000 } = options;
  let waiting: Member<Question, Answer>[] = [];
  const asked = new Set<string>();
  let underWay = 0;
  let isCalled = false;
  let cancel: (() => void) | null = null;

  /** Those whose row nobody asks about now, in the order in which they came; the others go on waiting. */
  const next = (): Member<Question, Answer>[] => {
    const batch: Member<Question, Answer>[] = [];
    const left: Member<Question, Answer>[] = [];
    for (const member of waiting) {
      if (batch.length >= most || asked.has(member.key)) left.push(member);
      else {
        asked.add(member.key);
        batch.push(member);
      }
    }
    waiting = left;
    return batch.sort((a, b) => (a.key < b.key ? -1 : 1));
  };

  const go = () => {
    isCalled = false;
    cancel?.();
    cancel = null;
    while (underWay < atOnce && waiting.length > 0) {
      const batch = next();
      if (batch.length === 0) return;
      underWay++;
      void askAll(options, batch).then((fault) => {
        underWay--;
        if (fault !== null) for (const member of waiting.splice(0)) member.reject(fault.error);
        for (const { key } of batch) asked.delete(key);
        if (waiting.length > 0) go();
      });
    }
  };

  const call = () => {
    const { company } = options;
    if (company === undefined || waiting.length >= most) {
      if (!isCalled) setImmediate(go);
      isCalled = true;
    } else cancel ??= company.clock.after(company.ms, go);
  };

  return (question) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= mostWaiting) return reject(options.full());
      waiting.push({ question, key: options.key(question), resolve, reject });
      call();
    });
}

/** Never rejects: each member is told. What would happen to any other question as well is returned. */
async function askAll<Question, Answer>(
  options: BatchAskerOptions<Question, Answer>,
  batch: readonly Member<Question, Answer>[],
): Promise<{ error: unknown } | null> {
  options.counted?.(batch.length);
  try {
    const answers = await options.answer(batch.map(({ question }) => question));
    if (answers.length !== batch.length)
      throw new Error("a batch has other answers than questions");
    for (const [at, member] of batch.entries()) member.resolve(answers[at] as Answer);
    return null;
  } catch (error) {
    const mayDiffer = options.mayDiffer(error);
    if (batch.length > 1 && mayDiffer) return askEach(options, batch);
    for (const member of batch) member.reject(error);
    return mayDiffer ? null : { error };
  }
}

async function askEach<Question, Answer>(
  options: BatchAskerOptions<Question, Answer>,
  batch: readonly Member<Question, Answer>[],
): Promise<{ error: unknown } | null> {
  for (const [at, member] of batch.entries()) {
    const fault = await askAll(options, [member]);
    if (fault === null) continue;
    for (const other of batch.slice(at + 1)) other.reject(fault.error);
    return fault;
  }
  return null;
}
