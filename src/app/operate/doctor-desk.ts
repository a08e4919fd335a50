import { unixSeconds } from "../../ground/kit/clock.ts";
import { type OwnProcess, startOwn } from "../../ground/kit/own-process.ts";
import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { DoctorService, Examined } from "../../tenant/host.ts";
import type { Tenant } from "../../tenant/tenant.ts";

const MOST_BYTES = 256 * 1024;
const DEADLINE_MS = 10 * 60_000;

/**
 * `box doctor` for the API and the console, in a process of its own because it reads every page of the store. The
 * findings are kept with their time.
 */
export function doctorService(
  tenant: Pick<Tenant, "store" | "clock" | "log" | "changes">,
  data: string,
): DoctorService & { stop(): Promise<void> } {
  const { store, clock, log, changes } = tenant;
  /** Read once and kept: every page shows the findings. */
  let known: Examined | null | undefined;
  let running: OwnProcess | null = null;
  let failure: string | null = null;

  const look = async (child: OwnProcess): Promise<void> => {
    const cancel = clock.after(DEADLINE_MS, () => child.kill());
    try {
      const { code, out, said } = await child.ended;
      if (running !== child) return;
      const { findings } = readFindings(out) ?? {};
      failure = findings === undefined ? said.trim() || `it ended with ${code}` : null;
      if (findings === undefined) return log.error({ why: failure }, "the doctor could not run");
      const found = { at: unixSeconds(clock), findings } satisfies Examined;
      store.write((tx) => setMeta(tx, "doctor", JSON.stringify(found)));
      known = found;
    } catch (error) {
      failure = "its findings could not be stored: see the log";
      log.error({ err: error }, "the doctor's findings could not be stored");
    } finally {
      cancel();
      if (running === child) running = null;
      changes.told([{ topic: "host" }]);
    }
  };

  return {
    latest() {
      if (known !== undefined) return known;
      const kept = getMeta(store, "doctor");
      known = kept === undefined ? null : (JSON.parse(String(kept)) as Examined);
      return known;
    },
    isRunning: () => running !== null,
    failure: () => failure,
    look() {
      if (running !== null) return;
      running = startOwn(["doctor", "--data", data, "--json"], MOST_BYTES);
      void look(running);
    },
    async stop() {
      const child = running;
      running = null;
      child?.kill();
      await child?.ended;
    },
  };
}

/** It exits with 1 where something is wrong; the findings count all the same. */
function readFindings(out: string): Pick<Examined, "findings"> | null {
  try {
    const { findings } = JSON.parse(out) as Partial<Examined>;
    return Array.isArray(findings) ? { findings } : null;
  } catch {
    return null;
  }
}
