import type { Make } from "./template-dice.ts";

/** Today's log shapes with known events, made up from a seed: what the miner is measured on beside research data. */
export const SHAPES: readonly Make[] = [
  // Kubernetes
  (r) => `Successfully assigned ${r.of("default prod staging")}/${r.pod} to node-${r.below(30)}`,
  (r) =>
    `Pulling image "registry.example.com/${r.of("team shop core")}/${r.of("web api worker")}:v1.${r.below(9)}.${r.below(40)}"`,
  (r) =>
    `Successfully pulled image "nginx:1.${r.below(30)}" in ${r.ms} (${r.ms} including waiting)`,
  (r) => `Created container ${r.of("web api payments orders sidecar proxy")}`,
  (r) => `Started container ${r.of("web api payments orders sidecar proxy")}`,
  (r) =>
    `Back-off restarting failed container ${r.of("web api payments orders sidecar proxy")} in pod ${r.pod}_${r.of("default prod")}(${r.uuid})`,
  (r) => `Readiness probe failed: HTTP probe failed with statuscode: ${r.of("500 502 503")}`,
  (r) => `Liveness probe failed: Get "http://${r.ip}:8080/healthz": context deadline exceeded`,
  (r) =>
    `0/${r.below(9) + 1} nodes are available: ${r.below(9)} Insufficient cpu, ${r.below(9)} Insufficient memory.`,
  (r) => `Scaled up replica set ${r.of("web api orders")}-${r.hex(9)} to ${r.below(9)}`,
  (r) => `Deleted pod: ${r.pod}`,
  (r) =>
    `MountVolume.SetUp failed for volume "pvc-${r.uuid}" : rpc error: code = DeadlineExceeded desc = context deadline exceeded`,
  (r) =>
    `I0${r.of("102 311 415")} 15:04:${10 + r.below(49)}.${100000 + r.below(899999)}   ${r.below(9999)} kubelet.go:${r.below(3000)}] "SyncLoop UPDATE" source="api" pods=["${r.of("default prod")}/${r.pod}"]`,
  // nginx and access logs
  (r) =>
    `${r.ip} - ${r.of("- alice bob")} [10/Oct/2024:13:55:${10 + r.below(49)} +0000] "GET ${r.path} HTTP/1.1" ${r.of("200 304 404")} ${r.below(9999)} "${r.of("- https://example.com/")}" "Mozilla/5.0 (X11; Linux x86_64) Firefox/${r.below(120)}.0"`,
  (r) =>
    `${r.ip} - - [10/Oct/2024:13:55:${10 + r.below(49)} +0000] "POST ${r.path} HTTP/2.0" ${r.of("200 201 500")} ${r.below(9999)} "-" "curl/8.${r.below(9)}.0"`,
  (r) =>
    `2024/10/10 13:55:${10 + r.below(49)} [error] ${r.below(999)}#0: *${r.below(99999)} open() "/usr/share/nginx/html/${r.hex(6)}.png" failed (2: No such file or directory), client: ${r.ip}, server: example.com, request: "GET ${r.path} HTTP/1.1", host: "example.com"`,
  (r) =>
    `2024/10/10 13:55:${10 + r.below(49)} [error] ${r.below(999)}#${r.below(9)}: *${r.below(99999)} upstream timed out (110: Connection timed out) while reading response header from upstream, client: ${r.ip}, server: _, request: "GET ${r.path} HTTP/1.1", upstream: "http://${r.ip}:3000${r.path}", host: "example.com"`,
  // Node and Java traces
  (r) =>
    `TypeError: Cannot read properties of undefined (reading '${r.of("id name length map email")}')\n    at ${r.of("handler getUser Object.<anonymous>")} (/app/src/${r.of("a b c")}.js:${r.below(99)}:${r.below(40)})\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)`,
  (r) =>
    `Error: connect ECONNREFUSED ${r.ip}:${r.of("5432 6379 9092")}\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1607:${r.below(40)})`,
  (r) =>
    `Error: getaddrinfo ENOTFOUND ${r.of("db.internal cache.prod.svc.cluster.local api.example.com")}\n    at GetAddrInfoReqWrap.onlookup [as oncomplete] (node:dns:107:26)`,
  (r) =>
    `java.lang.IllegalStateException: Order ${r.below(9999)} is already closed\n\tat com.shop.OrderService.close(OrderService.java:${r.below(300)})${"\n\tat com.shop.Base.run(Base.java:7)".repeat(r.below(20))}`,
  (r) =>
    `2024-05-01 10:00:${10 + r.below(49)}.123 ERROR ${r.below(9)} --- [nio-8080-exec-${r.below(9)}] o.a.c.c.C.[.[.[/].[dispatcherServlet] : Servlet.service() for servlet [dispatcherServlet] threw exception\njava.lang.RuntimeException: boom ${r.below(99)}\n\tat a.B.c(B.java:1)\nCaused by: java.sql.SQLException: Timeout after ${r.below(999)}ms\n\t... ${r.below(60)} more`,
  (r) =>
    `2024-05-01 10:00:${10 + r.below(49)}.123  INFO ${r.below(9)} --- [main] com.shop.Application : Started Application in ${r.below(9)}.${r.below(99)} seconds (process running for ${r.below(9)}.${r.below(99)})`,
  (r) =>
    `Traceback (most recent call last):\n  File "/app/${r.of("a b c")}.py", line ${r.below(99)}, in main\n    run(${r.below(9)})\nKeyError: '${r.of("id name total email")}'`,
  (r) =>
    `Traceback (most recent call last):\n  File "/app/${r.of("a b c")}.py", line ${r.below(99)}, in main\n    run()\npsycopg2.OperationalError: connection to server at "${r.ip}", port 5432 failed`,
  // logfmt
  (r) =>
    `level=info msg="request completed" method=${r.of("GET POST PUT")} path=${r.path} status=${r.of("200 404")} duration=${r.ms}`,
  (r) =>
    `time="2024-05-01T10:00:${10 + r.below(49)}Z" level=${r.of("warning error")} msg="retrying connection" attempt=${r.below(9)} host=${r.ip} err="dial tcp ${r.ip}:5432: connect: connection refused"`,
  (r) =>
    `ts=2024-05-01T10:00:${10 + r.below(49)}.123Z caller=main.go:${r.below(99)} level=info msg="user logged in" user=${r.user} session=${r.ulid}`,
  (r) =>
    r.of("0 1") === "0"
      ? `level=debug msg="cache miss" key=user:${r.below(999)} shard=${r.below(9)}`
      : `key=user:${r.below(999)} level=debug shard=${r.below(9)} msg="cache miss"`,
  (r) =>
    `2024/05/01 10:00:${10 + r.below(49)} INFO payment accepted order=${r.below(9999)} amount=${r.below(99)}.${r.below(99)} currency=${r.of("EUR USD")} id=${r.uuid}`,
  // JSON in the text
  (r) =>
    `{"level":"info","time":${1714557600000 + r.below(99999)},"pid":${r.below(999)},"hostname":"${r.pod}","msg":"request completed","responseTime":${r.below(99)}}`,
  (r) =>
    `{"level":"error","time":${1714557600000 + r.below(99999)},"pid":${r.below(999)},"hostname":"${r.pod}","msg":"payment ${r.below(999)} failed: card declined","user":"${r.user}"}`,
  (r) =>
    r.of("0 1") === "0"
      ? `{"event":"signup","user":"${r.user}","plan":"${r.of("free pro")}"}`
      : `{"plan":"${r.of("free pro")}","event":"signup","user":"${r.user}"}`,
  (r) =>
    `webhook delivered: {"id":"evt_${r.text("abcdefGHIJ0123456789", 16)}","attempts":${r.below(5)},"ok":${r.of("true false")}}`,
  (r) =>
    `Publishing message to orders: {"orderId":${r.below(9999)},"items":[${r.below(9)},${r.below(9)}],"customer":{"id":"${r.uuid}","email":"${r.user}@example.com"}}`,
  // SQL
  (r) =>
    `SELECT * FROM users WHERE id = ${r.below(9999)} AND status = '${r.of("active locked new")}' LIMIT ${r.below(99)}`,
  (r) =>
    `SELECT id, total FROM orders WHERE customer_id IN (${Array.from({ length: 1 + r.below(9) }, () => r.below(999)).join(", ")})`,
  (r) =>
    `INSERT INTO audit (user_id, action, at) VALUES (${r.below(99)}, '${r.of("login logout update")}', '2024-05-01 10:00:00')`,
  (r) =>
    `UPDATE accounts SET balance = balance - ${r.below(999)}.${r.below(99)} WHERE id = '${r.uuid}'`,
  (r) =>
    `duration: ${r.below(9999)}.${r.below(999)} ms  statement: DELETE FROM sessions WHERE expires_at < ${r.of("now() NOW()") === "now()" ? "now()" : "now()"}`,
  (r) =>
    `ERROR:  duplicate key value violates unique constraint "${r.of("users_email_key orders_pkey sessions_token_idx")}"`,
  (r) =>
    `deadlock detected: Process ${r.below(9999)} waits for ShareLock on transaction ${r.below(99999)}; blocked by process ${r.below(9999)}.`,
  // Tokens and ids
  (r) => `Verified token ${r.jwt} for tenant ${r.hex(16)}`,
  (r) => `Job ${r.ulid} finished in ${r.ms}`,
  (r) => `Job ${r.ulid} failed after ${r.below(9)} attempts: timeout`,
  (r) =>
    `Uploaded ${r.uuid}.pdf to s3://bucket-${r.below(9)}/${r.user}/${r.ulid} (${r.below(999)}.${r.below(9)} ${r.of("KB MB")})`,
  (r) =>
    `[${r.hex(8)}] Completed 200 OK in ${r.below(99)}ms (Views: ${r.below(9)}.${r.below(9)}ms | ActiveRecord: ${r.below(9)}.${r.below(9)}ms)`,
  (r) =>
    `AWS request id ${r.uuid} throttled: rate ${r.below(99)}.${r.below(9)}/s above limit ${r.below(99)}/s`,
  // Names in any script
  (r) => `User ${r.wideUser} logged in from ${r.ip}`,
  (r) => `User ${r.wideUser} changed the password`,
  (r) => `Password reset sent to ${r.user}.${r.of("smith jones müller")}@example.com`,
  (r) => `文件 ${r.hex(6)}${r.below(99)}.txt 上传成功 用时 ${r.below(99)} 毫秒`,
  (r) => `Fehler beim Öffnen der Datei /var/daten/${r.user}/${r.below(99)}.csv: Zugriff verweigert`,
  // Plain services
  (r) =>
    `Connection to ${r.of("redis postgres kafka")}:${r.of("6379 5432 9092")} lost, retrying in ${r.below(30)}s`,
  (r) => `Worker ${r.below(32)} exited with code ${r.below(255)}`,
  (r) => `Worker ${r.below(32)} started with pid ${r.below(99999)}`,
  (r) =>
    `certificate for ${r.of("example.com shop.example.org api.internal")} expires in ${r.below(30)} days`,
  (r) =>
    `GC pause (G1 Evacuation Pause) ${r.below(999)}M->${r.below(99)}M(${r.below(2048)}M) ${r.below(99)}.${r.below(999)}ms`,
  (r) =>
    `consumer group ${r.of("billing shipping search mail audit")} lag on topic ${r.of("orders payments users")} partition ${r.below(12)} is ${r.below(99999)}`,
  (r) =>
    `audit: type=1400 audit(17145${r.below(99999)}.${r.below(999)}:${r.below(999)}): apparmor="DENIED" operation="open" profile="${r.of("snap.firefox docker-default")}" pid=${r.below(9999)}`,
  (r) =>
    `Failed password for ${r.of("root admin invalid-user git deploy")} from ${r.ip} port ${r.below(65535)} ssh2`,
  (r) =>
    `panic: runtime error: index out of range [${r.below(9)}] with length ${r.below(9)}\n\ngoroutine ${r.below(99)} [running]:\nmain.main()\n\t/app/main.go:${r.below(99)} +0x1d`,
];
