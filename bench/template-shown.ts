import type { Make } from "./template-dice.ts";

/** The half of the shapes of today's systems that the miner's rules were developed against. */
export const SHOWN: readonly Make[] = [
  // Kubernetes
  (r) => `Scaled down replica set ${r.slug}-${r.hex(9)} from ${r.below(9)} to ${r.below(9)}`,
  (r) => `Stopping container ${r.either(r.word, r.slug)}`,
  (r) => `Killing container with id containerd://${r.hex(64)}: Container failed liveness probe.`,
  (r) =>
    `Failed to pull image "${r.slug}:latest": rpc error: code = NotFound desc = failed to pull and unpack image "docker.io/library/${r.slug}:latest": not found`,
  (r) =>
    `0/${r.below(40) + 1} nodes are available: ${r.below(9) + 1} node(s) had untolerated taint {node.kubernetes.io/${r.of("not-ready unreachable disk-pressure")}: }, ${r.below(9) + 1} Insufficient memory. preemption: 0/${r.below(40) + 1} nodes are available: ${r.below(9)} Preemption is not helpful for scheduling.`,
  (r) => `Saw completed job: ${r.slug}-${20000000 + r.below(9999999)}, condition: Complete`,
  (r) => `Created job ${r.slug}-${r.below(99999999)} for cron job ${r.namespace}/${r.slug}`,
  // Proxies
  (r) =>
    `${r.date("/")} ${r.clock} [warn] ${r.below(99)}#${r.below(99)}: *${r.below(99999)} an upstream response is buffered to a temporary file /var/cache/nginx/proxy_temp/${r.below(9)}/${r.below(99)}/00000${r.below(9999)} while reading upstream, client: ${r.ip}, server: ${r.domain}, request: "GET ${r.path} HTTP/1.1", upstream: "http://${r.ip}:8080${r.path}", host: "${r.domain}"`,
  (r) =>
    `${r.date("/")} ${r.clock} [error] ${r.below(99)}#${r.below(99)}: *${r.below(99999)} limiting requests, excess: ${r.below(20)}.${r.below(999)} by zone "${r.word}", client: ${r.ip}, server: ${r.domain}, request: "POST ${r.path} HTTP/2.0", host: "${r.domain}"`,
  (r) =>
    `${r.ip} - - [${r.access}] "GET ${r.path} HTTP/1.1" ${r.of("200 301 404 502")} ${r.below(99999)} "https://${r.domain}/" "Mozilla/5.0 (iPhone; CPU iPhone OS ${r.below(18)}_${r.below(6)} like Mac OS X) AppleWebKit/605.1.15"`,
  (r) =>
    `Server ${r.word}/${r.host} is UP, reason: Layer7 check passed, code: 200, check duration: ${r.below(30)}ms. ${r.below(4)} active and ${r.below(2)} backup servers online. 0 sessions requeued, 0 total in queue.`,
  // Databases
  (r) =>
    `${r.spaced} UTC [${r.below(99999)}] LOG:  checkpoint complete: wrote ${r.below(9999)} buffers (${r.below(99)}.${r.below(9)}%); 0 WAL file(s) added, ${r.below(3)} removed, ${r.below(9)} recycled; write=${r.below(99)}.${r.below(999)} s, sync=0.${r.below(999)} s, total=${r.below(99)}.${r.below(999)} s; sync files=${r.below(99)}, longest=0.${r.below(999)} s, average=0.${r.below(999)} s; distance=${r.below(99999)} kB, estimate=${r.below(99999)} kB`,
  (r) =>
    `${r.spaced} UTC [${r.below(99999)}] ${r.user}@${r.word} ERROR:  relation "${r.snake}" does not exist at character ${r.below(99)}`,
  () => `terminating connection due to idle-in-transaction timeout`,
  (r) =>
    `connection authorized: user=${r.user} database=${r.word} application_name=${r.slug} SSL enabled (protocol=TLSv1.3, cipher=TLS_AES_256_GCM_SHA384, bits=256)`,
  (r) =>
    `canceling statement due to lock timeout while updating tuple (${r.below(99)},${r.below(99)}) in relation "${r.snake}"`,
  () => `Background saving terminated with success`,
  (r) => `MASTER <-> REPLICA sync: Finished with success for replica ${r.host}:6379`,
  (r) =>
    `{"t":{"$date":"${r.iso}"},"s":"I","c":"NETWORK","id":${22900 + r.below(99)},"ctx":"listener","msg":"Connection accepted","attr":{"remote":"${r.ip}:${r.below(65535)}","connectionId":${r.below(9999)},"connectionCount":${r.below(99)}}}`,
  (r) =>
    `[${r.host}] [${r.word}-${r.date(".")}] creating index, cause [${r.oneOf("auto(bulk api)|api")}], templates [${r.word}], shards [${r.below(5)}]/[${r.below(2)}]`,
  // Queues
  (r) =>
    `[GroupCoordinator ${r.below(9)}]: Preparing to rebalance group ${r.slug} in state PreparingRebalance with old generation ${r.below(99)} (__consumer_offsets-${r.below(50)}) (reason: removing member consumer-${r.slug}-${r.below(9)}-${r.uuid} on heartbeat expiration) (kafka.coordinator.group.GroupCoordinator)`,
  (r) =>
    `[Consumer clientId=${r.slug}-${r.below(9)}, groupId=${r.slug}] Resetting offset for partition ${r.word}-${r.below(12)} to position FetchPosition{offset=${r.below(9999)}, offsetEpoch=Optional.empty}.`,
  (r) =>
    `closing AMQP connection <0.${r.below(9999)}.0> (${r.ip}:${r.below(65535)} -> ${r.ip}:5672 - ${r.slug}, vhost: '${r.word}', user: '${r.user}')`,
  (r) => `Purged ${r.below(9999)} messages from queue ${r.either(r.word, r.slug)}`,
  // Java
  (r) =>
    `${r.iso} ERROR 1 --- [nio-8080-exec-${r.below(20)}] o.h.engine.jdbc.spi.SqlExceptionHelper   : ERROR: duplicate key value violates unique constraint "${r.snake}_key"`,
  (r) =>
    `HikariPool-${r.below(4)} - Connection is not available, request timed out after ${30000 + r.below(999)}ms (total=${r.below(20)}, active=${r.below(20)}, idle=0, waiting=${r.below(50)})`,
  (r) =>
    `Resolved [org.springframework.web.HttpRequestMethodNotSupportedException: Request method '${r.of("PUT DELETE PATCH")}' is not supported]`,
  (r) =>
    `org.springframework.dao.DataIntegrityViolationException: could not execute statement [ERROR: null value in column "${r.snake}" of relation "${r.snake}" violates not-null constraint]\n\tat org.hibernate.A.b(A.java:${r.below(99)})\nCaused by: org.postgresql.util.PSQLException: ERROR: null value in column "${r.snake}"\n\t... ${r.below(90)} more`,
  (r) =>
    `Started ${r.camel}Application in ${r.below(20)}.${r.below(999)} seconds (process running for ${r.below(20)}.${r.below(999)})`,
  // Go
  (r) =>
    `time=${r.iso} level=INFO msg="request handled" method=GET path=${r.path} status=${r.of("200 404 500")} bytes=${r.below(9999)} took=${r.ms}`,
  (r) =>
    `${r.date("/")} ${r.clock} http: TLS handshake error from ${r.ip}:${r.below(65535)}: ${r.oneOf("EOF|remote error: tls: bad certificate")}`,
  (r) =>
    `{"level":"warn","ts":${1714557600 + r.below(99999)}.${r.below(999999)},"caller":"${r.word}/client.go:${r.below(300)}","msg":"retrying of unary invoker failed","target":"etcd-endpoints://0x${r.hex(10)}/${r.ip}:2379","attempt":${r.below(9)},"error":"rpc error: code = DeadlineExceeded desc = context deadline exceeded"}`,
  (r) => `cache eviction: removed ${r.count("entry")} in ${r.ms}`,
  // System
  (r) =>
    `${r.syslog} ${r.host} systemd[1]: ${r.slug}.service: Main process exited, code=exited, status=${r.below(255)}/${r.of("FAILURE NOTIMPLEMENTED EXEC")}`,
  (r) => `Started ${r.either(r.word, r.slug)}.service - ${r.camel} Daemon.`,
  (r) =>
    `${r.syslog} ${r.host} sshd[${r.below(99999)}]: Accepted publickey for ${r.user} from ${r.ip} port ${r.below(65535)} ssh2: ED25519 SHA256:${r.blob(43)}`,
  (r) =>
    `${r.syslog} ${r.host} CRON[${r.below(99999)}]: (${r.user}) CMD (/opt/${r.word}/bin/${r.word}.sh > /dev/null 2>&1)`,
  (r) =>
    `EXT4-fs warning (device ${r.of("sda1 nvme0n1p2 dm-0 vdb")}): ext4_dx_add_entry:${r.below(2999)}: inode #${r.below(99999)}: comm ${r.word}: index full, reach max htree level :2`,
  (r) =>
    `postfix/smtp[${r.below(99999)}]: ${r.upper(11)}: to=<${r.user}@${r.domain}>, relay=mx.${r.domain}[${r.ip}]:25, delay=${r.below(9)}.${r.below(9)}, delays=0.${r.below(99)}/0/${r.below(9)}/${r.below(9)}, dsn=2.0.0, status=sent (250 2.0.0 OK)`,
  // JSON
  (r) =>
    `{"level":30,"time":${1714557600000 + r.below(99999)},"pid":${r.below(99)},"hostname":"${r.pod}","reqId":"req-${r.hex(3)}","res":{"statusCode":${r.of("200 404")}},"responseTime":${r.below(99)}.${r.below(999)},"msg":"request completed"}`,
  (r) =>
    `{"timestamp":"${r.iso}","level":"ERROR","logger":"com.shop.${r.camel}","thread":"http-nio-${r.below(9)}","message":"Payment ${r.uuid} declined by provider ${r.of("stripe adyen paypal klarna")}","tenant":"${r.word}"}`,
  (r) =>
    `{"msg":"sync finished","source":"${r.word}","rows":${r.below(999)},"skipped":${r.of("true false")},"ids":[${r.below(9)},${r.below(9)}]}`,
  // Cloud
  (r) => `${r.iso} ${r.uuid} Task timed out after ${r.below(30)}.0${r.below(9)} seconds`,
  (r) =>
    `An error occurred (AccessDenied) when calling the ${r.of("PutObject GetObject ListObjectsV2 DeleteObject CopyObject")} operation: User: arn:aws:iam::${r.below(999999999)}:user/${r.user} is not authorized`,
  (r) => `Route53 health check ${r.uuid} for ${r.domain} is failing in region ${r.region}`,
  (r) =>
    `RDS instance ${r.slug} storage is ${r.below(100)}% full, autoscaling to ${r.below(999)} GiB`,
  // Scripted and web
  (r) =>
    `Task ${r.word}.tasks.${r.snake}[${r.uuid}] succeeded in ${r.below(9)}.${r.below(999999)}s: ${r.of("None True")}`,
  (r) =>
    `Task ${r.word}.tasks.${r.snake}[${r.uuid}] raised unexpected: ConnectionError('${r.word}')`,
  (r) =>
    `PHP Fatal error:  Uncaught Error: Call to undefined method ${r.camel}::${r.of("save find load")}() in /var/www/${r.word}/src/${r.camel}.php:${r.below(300)}`,
  (r) =>
    `Executed DbCommand (${r.below(99)}ms) [Parameters=[@__id_0='${r.below(999)}'], CommandType='Text', CommandTimeout='30'] SELECT TOP(1) [o].[Id] FROM [${r.camel}] AS [o]`,
  (r) =>
    `Heartbeat took longer than "00:00:01" at "${r.date("/")} ${r.clock} +00:00". This could be caused by thread pool starvation.`,
  // Containers and services
  (r) => `Container ${r.slug}-${r.below(9)} Recreated`,
  (r) => `user ${r.user} logged in from ${r.ip}`,
  (r) => `user ${r.user} logged out after ${r.count("minute")}`,
  (r) =>
    `client @0x${r.hex(12)} ${r.ip}#${r.below(65535)} (${r.domain}): query (cache) '${r.domain}/A/IN' denied`,
  (r) =>
    `Job ${r.camel}Worker failed: ${r.camel}Error, retry ${r.below(9)} scheduled in ${r.count("second")}`,
];
