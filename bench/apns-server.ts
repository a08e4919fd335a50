/** A fake push provider in a process of its own; its first line says how to reach it. SIGUSR2: a push takes 30 ms from now on. */
import { startFakeApns } from "../test/support/apns.ts";

const apns = await startFakeApns();
const { endpoint, ca, key, keyId, teamId, topic } = apns;
process.stdout.write(`${JSON.stringify({ endpoint, ca, key, keyId, teamId, topic })}\n`);
// What was received is of no interest here, and would grow for ever.
Object.assign(apns.received, { push: () => 0 });
process.on("SIGUSR2", () => apns.otherwise({ status: 200, delayMs: 30 }));
