import type { Clock } from "../../../ground/kit/clock.ts";

export interface BatchAskerOptions<Question, Answer> {
  /** Answers all of them in one statement, in the same order. Their keys are distinct and ascending. */
  answer(questions: readonly Question[]): Promise<readonly Answer[]>;
  /** The row that the question is about. Of two questions with one key the second waits for the first. */
  key(question: Question): string;
  /**
   * Whether the questions of a failed batch may succeed one by one. False where the database doesn't answer: then all
   * that wait fail too, so that nobody waits longer than one batch.
   */
  mayDiffer(error: unknown): boolean;
  /** The error for a question when the queue is full. */
  full(): Error;
  /** Called for each batch with its number of rows. */
  counted?(rows: number): void;
  /** Questions in one batch. Default 200. */
  most?: number;
  /** Questions that wait for a batch. Default 10,000. */
  mostWaiting?: number;
  /** Batches under way at one time. Default 2. */
  atOnce?: number;
  /** How long the first question waits for others, where its answer isn't urgent. Absent: not at all. */
  company?: { clock: Clock; ms: number };
}

interface Member<Question, Answer> {
  question: Question;
  key: string;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Joins the questions of one turn of the event loop, or those that come while every batch is under way, into one batch.
 * A single question is sent at once. If a batch fails, each question is asked again alone. Each gets its own answer.
 */
export function batchAsker<Question, Answer>(
  options: BatchAskerOptions<Question, Answer>,
): (question: Question) => Promise<Answer> {
  const { most = 200, atOnce = 2, mostWaiting = 10_000 } = options;
  let waiting: Member<Question, Answer>[] = [];
  const asked = new Set<string>();
  let underWay = 0;
  let isCalled = false;
  let cancel: (() => void) | null = null;

  /** The questions whose row no batch is asking about, in order; the others keep waiting. */
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

/** Never rejects: each question gets its answer or error. Returns an error that all others would get, too. */
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
