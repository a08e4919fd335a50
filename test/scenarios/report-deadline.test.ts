import { refusedInTime } from "./report-deadline.ts";

refusedInTime(["a**b"]);
