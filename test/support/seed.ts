/** The suite's own. */
export const FIXED = 20_260_329;

/**
 * The seed of everything that the tests draw at random. The suite's is fixed, so that a commit always
 * has one result; the long forms take another one each time and say which. `SEED=n` in front of the
 * command takes n, and `SEED=random` any.
 */
export const seed = seedOf(process.env["SEED"], process.argv[1]);

function seedOf(wanted: string | undefined, file = ""): number {
  if (wanted !== undefined && wanted !== "random") {
    const given = Number(wanted);
    if (wanted !== "" && Number.isSafeInteger(given)) return given;
    throw new Error(`SEED is a whole number or "random", not "${wanted}"`);
  }
  if (wanted === undefined && !file.endsWith(".deep.ts")) return FIXED;
  const any = Date.now() % 1_000_000;
  console.log(`SEED=${any}`);
  return any;
}
