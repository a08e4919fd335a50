import { refusedInTime } from "./report-deadline.ts";

refusedInTime(["a\n=\n", "a**b", "> > >"]);
