// Sends events by HTTP to the first URL, to the other URLs in turn, each until it is answered 202, and by syslog over UDP to
// each address in turn; says on standard output, as lines of JSON, what became of them. Arguments: token, URLs, addresses.
import { createSocket } from "node:dgram";
import { setTimeout as pause } from "node:timers/promises";

const [, , token, urls, syslog] = process.argv;
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const [balancer, ...machines] = urls.split(",");
const ports = syslog.split(",");

async function send(n, base) {
  const answer = await fetch(`${base}/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ message: "the till is stuck", level: 400, keys: { host: n } }),
    signal: AbortSignal.timeout(30_000),
  });
  await answer.arrayBuffer();
  return String(answer.status);
}

async function overHttp(mine, bases) {
  for (let count = 1; ; count++) {
    const n = `${mine}-${count}`;
    const sent = Date.now();
    const refused = [];
    for (let turn = count; ; turn++) {
      const how = await send(n, bases[turn % bases.length]).catch(
        (error) => error.cause?.code ?? error.name,
      );
      if (how === "202") break;
      refused.push(how);
      await pause(100);
    }
    say({ n, sent, answered: Date.now(), refused });
    await pause(250);
  }
}

async function overUdp() {
  const socket = createSocket("udp4").on("error", () => {});
  for (let count = 1; ; count++) {
    const [host, port] = ports[count % ports.length].split(":");
    const n = `udp-${count}-${host}`;
    // Level 3 of a syslog message is an error.
    const text = `<11>1 - ${n} till - - - is stuck`;
    say({ n, sent: Date.now() });
    await new Promise((done) => socket.send(text, Number(port), host, done));
    await pause(250);
  }
}

await Promise.all([overHttp("balancer", [balancer]), overHttp("machines", machines), overUdp()]);
