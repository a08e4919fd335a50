import { test } from "node:test";
import { without } from "../faults/tools.ts";
import { senderStory } from "./story.ts";

const skip = without("prometheus", "prometheus-alertmanager");
const MINUTES = Number(process.env["MINUTES_DOWN"] ?? 10);

test(
  `Prometheus and Alertmanager at their usual pace, and nobody there for ${MINUTES} minutes`,
  {
    skip,
  },
  (t) => senderStory(t, { interval: "1m", downMs: MINUTES * 60_000, patienceMs: 300_000 }),
);
