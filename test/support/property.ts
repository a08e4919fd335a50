import fc from "fast-check";
import { seed } from "./seed.ts";

/** fast-check with the tests' seed: whoever draws takes it from here. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

export default fc;
