#!/bin/sh
# sh postgres-keeper.sh DIRECTORY RUNNER: a PostgreSQL in DIRECTORY for as long as the process RUNNER lives, however that
# ends. Run as a user other than root. Nothing of it is synced: what it holds is of no use afterwards.
dir=$1 runner=$2
export LC_ALL=C TZ=UTC
"$BOX_TEST_POSTGRES_BIN/initdb" --pgdata "$dir/data" --username box --auth trust --encoding UTF8 \
  --no-locale --no-sync --no-instructions >"$dir/log" 2>&1 || exit
"$BOX_TEST_POSTGRES_BIN/postgres" -D "$dir/data" -k "$dir" \
  -c listen_addresses= -c fsync=off -c full_page_writes=off -c autovacuum=off \
  -c shared_buffers=32MB -c max_connections=300 -c wal_level=minimal -c max_wal_senders=0 \
  -c max_wal_size=4GB -c checkpoint_timeout=1h -c max_parallel_workers_per_gather=0 -c deadlock_timeout=50ms >>"$dir/log" 2>&1 &
server=$!
# Another user's process can't be asked by a signal.
lives() { if [ -d /proc/$$ ]; then [ -d "/proc/$runner" ]; else kill -0 "$runner" 2>/dev/null; fi; }
while lives && kill -0 $server 2>/dev/null; do sleep 0.5; done
kill -QUIT $server 2>/dev/null
wait $server
rm -rf "$dir"
