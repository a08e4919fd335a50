// Receives what the box sends: /ok answers, /hang never does, /reset breaks off, /500 fails.
// GET /arrivals: for each alert and path the first arrival, in Unix milliseconds.
import { createServer } from "node:http";

let arrivals = {};
const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  if (request.method === "GET") {
    response.end(JSON.stringify(arrivals));
    arrivals = {};
    return;
  }
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    if (request.url === "/fast") return response.writeHead(204).end();
    if (request.url.startsWith("/hang")) return;
    if (request.url.startsWith("/reset")) return request.socket.resetAndDestroy();
    if (request.url.startsWith("/500")) return response.writeHead(500).end();
    const { alert_id, project } = JSON.parse(Buffer.concat(chunks).toString());
    arrivals[`${project} ${alert_id} ${request.url}`] ??= at;
    response.writeHead(204).end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
