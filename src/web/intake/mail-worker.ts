/**
 * The thread that reads mails: some short ones take minutes. It says once that its code is loaded, and then answers
 * each mail's bytes with what the mail says, or null for one that can't be read.
 */
import { parentPort } from "node:worker_threads";
import { stepBack } from "../../ground/kit/step-back.ts";
import { readMime } from "../../in/adapters/email/mime.ts";

if (parentPort !== null) {
  const port = parentPort;
  stepBack();
  port.on("message", (bytes: Uint8Array) => {
    readMime(bytes).then(
      (mail) => port.postMessage(mail),
      () => port.postMessage(null),
    );
  });
  port.postMessage("ready");
}
