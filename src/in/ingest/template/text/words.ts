/** The word lists of the masking rules. Each is about how logs are written in general, never about one program. */
const set = (words: string): ReadonlySet<string> => new Set(words.split(" "));

export const MONTHS = set(
  "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec January February March April June July August September October November December",
);
export const WEEKDAYS = set(
  "Mon Tue Wed Thu Fri Sat Sun Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
);
/** Words that can follow a time of day. */
export const ZONES = set(
  "UTC GMT PST PDT EST EDT CST CDT MST MDT CET CEST BST IST JST EET EEST WET MSK Z AM PM am pm",
);
/** Units written apart from their number. They belong to the value, so `384.0 B` and `5.2 KB` have one shape. */
export const UNITS = set(
  "B KB MB GB TB PB kB KiB MiB GiB TiB Kb Mb Gb ms us ns µs μs sec secs s min mins hr hrs h Hz kHz KHz MHz GHz bps Kbps Mbps Gbps °C",
);
/** Units that stay in the text; a second form of the value in brackets after them is dropped. */
export const LONG_UNITS = set(
  "byte bytes second seconds millis milliseconds minutes hours packets",
);
export const NULLS = set("null nil none None undefined NULL NaN NIL");
/** Names that contain a digit. */
export const TECHNICAL = set(
  "ssh2 http2 http3 utf8 utf16 sha1 sha2 sha256 sha512 md5 crc32 ipv4 ipv6 s3 ec2 k8s i18n l10n oauth2 log4j slf4j x86 i386 i686 amd64 arm64 win32 win64 python2 python3 sqlite3 base64 ext2 ext3 ext4 socks4 socks5 p2p b2b e2e i2c tls1 h2 mp3 mp4 x509 pkcs7 pkcs8 pkcs12 fat32 argon2 psycopg2 boto3 neo4j g1 l1 l2 l3 web3 ed25519",
);
/** Last labels of a dotted name that is a host rather than a class or a file. */
export const HOST_ENDINGS = set(
  "com net org edu gov mil int io dev app info biz local localdomain internal intranet lan corp home cluster svc test example invalid cloud online site uk de fr nl eu us ca au jp cn tw hk kr in br ru it es se no fi dk pl cz at ch be ie nz za mx ar tr il gr pt hu ro ua sg my th vn id asia xyz me",
);
/** First labels that make it a package after all. */
export const PACKAGE_STARTS = set(
  "com org net io java javax jdk sun android androidx kotlin scala akka dev edu gov uk de fr ch cn me",
);
/** A word after one of these is probably a name. */
export const NAMING = set(
  "user users username account domain host hostname node pod container namespace deployment service job task queue topic table database bucket volume image index tenant customer worker thread process named name called device group role channel stream shard cluster partition consumer client server program app application repository branch plugin module key",
);
/** A dotted name before `:17` with such an ending is a place in a source file. */
export const SOURCE_ENDINGS = set(
  "c h cc cpp cxx hpp cs go rs py pyc rb pl pm php js mjs cjs ts tsx jsx java kt scala swift m mm sh lua ex exs erl hs ml sql vue html css xml yaml yml json toml conf cfg ini log txt",
);
/** Ports so common that the name before them is a host. */
export const PORTS = set(
  "80 443 8080 8443 1883 2181 2379 3306 5432 5672 6379 8125 8500 9090 9092 9200 9300 11211 27017",
);
/** After these a name is slightly more probable than elsewhere. */
export const PREPOSITIONS = set("for from by to of in on at with as via into against");
/** Words that distinguish two events; they never count as values of one variable. */
export const TELLING = set(
  "true false yes no on off up down null none ok OK GET POST PUT DELETE PATCH HEAD OPTIONS CONNECT TRACE start stop begin end open close opened closed enabled disabled success failure failed succeeded active inactive running stopped started paused resumed connected disconnected online offline accept reject allow deny pass fail read write in out SUCCESS FAILURE FAILED ERROR INFO WARN DEBUG error warning info debug normal critical UP DOWN ON OFF TRUE FALSE",
);
export const LEVELS = set(
  "TRACE DEBUG INFO INFORMATION NOTICE WARN WARNING ERROR ERR SEVERE FATAL CRITICAL CRIT ALERT EMERG EMERGENCY FAILURE PANIC FINE FINER FINEST CONFIG VERBOSE trace debug info notice warn warning error err fatal critical crit alert emerg panic Trace Debug Info Information Notice Warn Warning Error Fatal Critical",
);
export const METHODS = set("GET POST PUT DELETE PATCH HEAD OPTIONS CONNECT TRACE");
/** Keys of JSON and logfmt whose value is the event's own text. */
export const TEXT_KEYS = set(
  "msg message event event_name eventName log short_message @message Message MESSAGE Msg",
);
