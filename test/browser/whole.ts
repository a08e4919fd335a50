/** `--whole`: also what the suite leaves out, because it looks at a case much like it. */
export const isWhole = process.argv.includes("--whole");

/** What else was typed. */
export const typed = process.argv.slice(2).filter((word) => word !== "--whole");
