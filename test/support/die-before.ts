import Database from "better-sqlite3";

/**
 * Loaded before a program (`--import`, with `?of&n`): the process dies by SIGKILL before its n-th step. Steps are the writes
 * whose SQL matches `of`, and the commit that follows them, before and after it.
 */
export const dieBefore = (of: RegExp, n: number): string[] => [
  "--import",
  `${import.meta.url.replace(/\?.*/, "")}?of=${encodeURIComponent(of.source)}&n=${n}`,
];

const asked = new URL(import.meta.url).searchParams;
const fatal = Number(asked.get("n"));
if (fatal > 0) {
  const of = new RegExp(asked.get("of") ?? "", "i");
  const statements = Object.getPrototypeOf(new Database(":memory:").prepare("SELECT 1"));
  const { run } = statements;
  let taken = 0;
  let wrote = false;
  const step = () => {
    taken += 1;
    if (taken === fatal) process.kill(process.pid, "SIGKILL");
  };
  statements.run = function (this: { source: string }, ...values: unknown[]) {
    const isWatched = of.test(this.source);
    const isCommit = wrote && this.source === "COMMIT";
    if (isWatched || isCommit) step();
    const done = run.apply(this, values);
    if (isCommit) step();
    wrote = isWatched || (wrote && !isCommit);
    return done;
  };
}
