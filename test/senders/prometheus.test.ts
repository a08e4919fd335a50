import { test } from "node:test";
import { without } from "../faults/tools.ts";
import { senderStory } from "./story.ts";

const skip = without("prometheus", "prometheus-alertmanager");

test(
  "Prometheus and Alertmanager as they are: fire, repeat, kill, outage, resolve",
  {
    skip,
  },
  (t) => senderStory(t, { interval: "1s", downMs: 0, patienceMs: 60_000 }),
);
