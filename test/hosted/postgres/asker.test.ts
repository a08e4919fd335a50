import assert from "node:assert/strict";
import test from "node:test";
import { type BatchAskerOptions, batchAsker } from "../../../src/hosted/registry/postgres/asker.ts";
import { handClock } from "../../support/clock.ts";
import fc from "../../support/property.ts";

interface Question {
  id: number;
  key: string;
  /** A batch with it fails, and so does it alone. */
  poison: boolean;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Batches wait until the test ends them. */
function bench(options: Partial<BatchAskerOptions<Question, string>> = {}) {
  const batches: { questions: readonly Question[]; end(fault?: Error): void; ended: boolean }[] =
    [];
  const ask = batchAsker<Question, string>({
    key: ({ key }) => key,
    mayDiffer: () => true,
    full: () => new Error("full"),
    answer: (questions) =>
      new Promise((resolve, reject) => {
        const batch = {
          questions,
          ended: false,
          end(fault?: Error) {
            batch.ended = true;
            if (fault !== undefined) reject(fault);
            else if (questions.some(({ poison }) => poison)) reject(new Error("poison"));
            else resolve(questions.map(({ id }) => `answer ${id}`));
          },
        };
        batches.push(batch);
      }),
    ...options,
  });
  const open = () => batches.filter(({ ended }) => !ended);
  return { batches, ask, open };
}

const question = (id: number, key = `k${id}`, poison = false): Question => ({ id, key, poison });

test("a single question is sent at once, and questions that come while all batches run are sent together", async () => {
  const { ask, open, batches } = bench();
  const first = ask(question(1));
  await turn();
  assert.equal(open().length, 1);
  const second = ask(question(2));
  await turn();
  const others = [3, 4, 5].map((id) => ask(question(id)));
  await turn();
  assert.deepEqual(
    open().map(({ questions }) => questions.length),
    [1, 1],
  );
  batches[1]?.end();
  assert.equal(await second, "answer 2");
  await turn();
  assert.deepEqual(
    batches[2]?.questions.map(({ id }) => id),
    [3, 4, 5],
  );
  batches[2]?.end();
  batches[0]?.end();
  assert.deepEqual(
    await Promise.all([first, ...others]),
    [1, 3, 4, 5].map((id) => `answer ${id}`),
  );
});

test("a batch waits for more questions only for its time, and a full batch doesn't wait", async () => {
  const clock = handClock();
  const { ask, open } = bench({ company: { clock, ms: 20 }, most: 3 });
  void ask(question(1));
  await clock.turn(19);
  assert.equal(open().length, 0);
  void ask(question(2));
  await clock.turn(1);
  assert.deepEqual(
    open().map(({ questions }) => questions.length),
    [2],
  );
  for (const id of [3, 4, 5]) void ask(question(id));
  await turn();
  assert.deepEqual(
    open().map(({ questions }) => questions.length),
    [2, 3],
  );
  assert.equal(clock.timers(), 0);
});

test("when the database doesn't answer no question is repeated alone, and waiting ones fail too", async () => {
  const away = new Error("away");
  const { ask, batches } = bench({ mayDiffer: (error) => error !== away, most: 2, atOnce: 1 });
  const all = [1, 2, 3, 4, 5].map((id) => ask(question(id)));
  await turn();
  batches[0]?.end(away);
  const told = await Promise.allSettled(all);
  assert.ok(told.every((one) => one.status === "rejected" && one.reason === away));
  assert.equal(batches.length, 1);
  // The next question finds out whether the database answers again; so do those of a batch that are repeated one by
  // one.
  const others = [question(6, "a", true), question(7, "b"), question(8, "c")].map(ask);
  await turn();
  batches[1]?.end();
  await turn();
  batches[2]?.end(away);
  assert.deepEqual(
    (await Promise.allSettled(others)).map((one) => one.status === "rejected" && one.reason),
    [away, away, away],
  );
});

test("above the limit of waiting questions a new one fails at once", async () => {
  const { ask, batches } = bench({ mostWaiting: 3, atOnce: 1 });
  const first = ask(question(0));
  await turn();
  const waiting = [1, 2, 3].map((id) => ask(question(id)));
  await assert.rejects(ask(question(4)), /^Error: full$/);
  batches[0]?.end();
  await turn();
  batches[1]?.end();
  assert.equal((await Promise.all([first, ...waiting])).length, 4);
});

/** Asks some questions, ends a batch, or lets a turn pass. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant("ask" as const),
    keys: fc.array(
      fc.tuple(
        fc.nat(6),
        fc.boolean().map((b) => b),
      ),
      { minLength: 1, maxLength: 9 },
    ),
  }),
  fc.record({ kind: fc.constant("end" as const), which: fc.nat(5), fault: fc.nat(5) }),
  fc.record({ kind: fc.constant("turn" as const) }),
);

test("every question gets its own answer, in any order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, most) => {
        const { ask, open, batches } = bench({ most, atOnce: 2 });
        const results: { question: Question; promise: Promise<string> }[] = [];
        const check = () => {
          assert.ok(open().length <= 2);
          const keys = open().flatMap(({ questions }) => questions.map(({ key }) => key));
          assert.equal(new Set(keys).size, keys.length, "one row is asked about twice at one time");
          for (const { questions } of batches) {
            assert.ok(questions.length >= 1 && questions.length <= most);
            const own = questions.map(({ key }) => key);
            assert.deepEqual(own, own.toSorted());
          }
        };
        for (const one of steps) {
          if (one.kind === "ask")
            for (const [key, rare] of one.keys) {
              const asked = question(results.length, `k${key}`, rare && results.length % 5 === 0);
              const promise = ask(asked);
              promise.catch(() => {});
              results.push({ question: asked, promise });
            }
          else if (one.kind === "end")
            open()[one.which % 2]?.end(one.fault === 0 ? new Error("passing") : undefined);
          await turn();
          check();
        }
        for (let rounds = 0; open().length > 0; rounds++) {
          assert.ok(rounds < 2_000);
          for (const batch of open()) batch.end();
          await turn();
          check();
        }
        for (const { question: asked, promise } of results) {
          const [told] = await Promise.allSettled([promise]);
          if (told?.status === "fulfilled") {
            assert.equal(told.value, `answer ${asked.id}`);
            assert.ok(!asked.poison);
          } else if (!asked.poison) {
            // Only one that failed in a batch of its own.
            const alone = batches.filter(
              ({ questions: [only], questions }) => questions.length === 1 && only === asked,
            );
            assert.ok(alone.length >= 1 && told?.reason.message === "passing");
          }
        }
        // Questions of one key are answered in order.
        const order = new Map<string, number>();
        for (const { questions } of batches)
          for (const { key, id } of questions) {
            assert.ok((order.get(key) ?? -1) <= id);
            order.set(key, id);
          }
      },
    ),
    { numRuns: 150 },
  );
});
