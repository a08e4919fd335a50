/*
 * Records what a process does to the files under $PC_DIR, in the order of the calls, in $PC_LOG.
 * Preloaded: gcc -shared -fPIC -O1 recorder.c -ldl -lpthread. The log's form stands in recording.ts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 1, CLOSE, WRITE, TRUNCATE, SYNC, UNLINK, RENAME, LINK };
enum { EMPTIED = 1, DIRECTORY = 2, MADE = 4 };
enum { MOST_FILES = 65536 };

struct record {
  uint32_t op;
  uint32_t pid;
  int32_t fd;
  uint32_t flags;
  int64_t offset;
  uint64_t length;
};

static const char *under;
static int log_fd = -1;
/* The inode of each open file under $PC_DIR, else 0. */
static ino_t own[MOST_FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("PC_LOG");
  under = getenv("PC_DIR");
  /* By raw calls: the wrappers below are for the program. */
  if (under && path)
    log_fd = syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
}

/* One write to a file opened with O_APPEND: whole, also between processes. */
static void put(uint32_t op, int fd, uint32_t flags, int64_t offset, const void *data, uint64_t length) {
  if (log_fd < 0) return;
  int kept = errno;
  struct record head = {op, (uint32_t)getpid(), fd, flags, offset, data ? length : 0};
  char *bytes = malloc(sizeof head + head.length);
  memcpy(bytes, &head, sizeof head);
  if (head.length) memcpy(bytes + sizeof head, data, head.length);
  pthread_mutex_lock(&lock);
  if (syscall(SYS_write, log_fd, bytes, sizeof head + head.length) < 0) abort();
  pthread_mutex_unlock(&lock);
  free(bytes);
  errno = kept;
}

static int is_under(const char *path) {
  if (!under || !path || strncmp(path, under, strlen(under))) return 0;
  char next = path[strlen(under)];
  return next == '/' || next == 0;
}

/* libuv closes by a raw call, so that a number may long be a socket's: the inode tells. */
static int is_own(int fd) {
  if (fd < 0 || fd >= MOST_FILES || !own[fd]) return 0;
  struct stat found;
  if (!fstat(fd, &found) && found.st_ino == own[fd]) return 1;
  own[fd] = 0;
  return 0;
}

static void opened(int fd, const char *path, int flags) {
  if (fd < 0 || fd >= MOST_FILES) return;
  own[fd] = 0;
  struct stat found;
  if (!is_under(path) || fstat(fd, &found)) return;
  own[fd] = found.st_ino;
  uint32_t is_directory = S_ISDIR(found.st_mode) ? DIRECTORY : 0;
  uint32_t is_made = (flags & O_CREAT) && (flags & O_EXCL) ? MADE : 0;
  put(OPEN, fd, (flags & O_TRUNC ? EMPTIED : 0) | is_directory | is_made, 0, path, strlen(path));
}

static void two_paths(uint32_t op, const char *from, const char *to) {
  char both[8192];
  int length = snprintf(both, sizeof both, "%s%c%s", from, '\n', to);
  put(op, -1, 0, 0, both, length);
}

#define REAL(name)                  \
  static __typeof__(name) *real;    \
  if (!real) real = dlsym(RTLD_NEXT, #name)

#define WRAP_OPEN(name)                                  \
  int name(const char *path, int flags, ...) {           \
    va_list rest;                                        \
    va_start(rest, flags);                               \
    mode_t mode = va_arg(rest, mode_t);                  \
    va_end(rest);                                        \
    REAL(name);                                          \
    int fd = real(path, flags, mode);                    \
    opened(fd, path, flags);                             \
    return fd;                                           \
  }
WRAP_OPEN(open)
WRAP_OPEN(open64)

int close(int fd) {
  REAL(close);
  if (is_own(fd)) {
    own[fd] = 0;
    put(CLOSE, fd, 0, 0, NULL, 0);
  }
  return real(fd);
}

#define WRAP_PWRITE(name, type)                                       \
  ssize_t name(int fd, const void *data, size_t n, type offset) {     \
    REAL(name);                                                       \
    ssize_t done = real(fd, data, n, offset);                         \
    if (is_own(fd) && done > 0) put(WRITE, fd, 0, offset, data, done); \
    return done;                                                      \
  }
WRAP_PWRITE(pwrite, off_t)
WRAP_PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t n) {
  REAL(write);
  int64_t at = is_own(fd) ? lseek64(fd, 0, SEEK_CUR) : 0;
  ssize_t done = real(fd, data, n);
  if (is_own(fd) && done > 0) put(WRITE, fd, 0, at, data, done);
  return done;
}

/* Not recorded, so they may not come: what they would write would be missing in every state. */
ssize_t writev(int fd, const struct iovec *parts, int n) {
  REAL(writev);
  if (is_own(fd)) abort();
  return real(fd, parts, n);
}

#define WRAP_TRUNCATE(name, type)                            \
  int name(int fd, type length) {                            \
    REAL(name);                                              \
    int result = real(fd, length);                           \
    if (is_own(fd) && !result) put(TRUNCATE, fd, 0, length, NULL, 0); \
    return result;                                           \
  }
WRAP_TRUNCATE(ftruncate, off_t)
WRAP_TRUNCATE(ftruncate64, off64_t)

#define WRAP_SYNC(name)                               \
  int name(int fd) {                                  \
    REAL(name);                                       \
    int result = real(fd);                            \
    if (is_own(fd) && !result) put(SYNC, fd, 0, 0, NULL, 0); \
    return result;                                    \
  }
WRAP_SYNC(fsync)
WRAP_SYNC(fdatasync)

int unlink(const char *path) {
  REAL(unlink);
  int result = real(path);
  if (!result && is_under(path)) put(UNLINK, -1, 0, 0, path, strlen(path));
  return result;
}

int remove(const char *path) {
  REAL(remove);
  int result = real(path);
  if (!result && is_under(path)) put(UNLINK, -1, 0, 0, path, strlen(path));
  return result;
}

int unlinkat(int at, const char *path, int flags) {
  REAL(unlinkat);
  char whole[8192], link[64], directory[4096] = "";
  if (path[0] == '/' || at == AT_FDCWD) {
    snprintf(whole, sizeof whole, "%s", path);
  } else {
    snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    if (readlink(link, directory, sizeof directory - 1) < 0) abort();
    snprintf(whole, sizeof whole, "%s/%s", directory, path);
  }
  int result = real(at, path, flags);
  if (!result && is_under(whole)) put(UNLINK, -1, 0, 0, whole, strlen(whole));
  return result;
}

int rename(const char *from, const char *to) {
  REAL(rename);
  int result = real(from, to);
  if (!result && is_under(from)) two_paths(RENAME, from, to);
  return result;
}

int link(const char *from, const char *to) {
  REAL(link);
  int result = real(from, to);
  if (!result && is_under(from)) two_paths(LINK, from, to);
  return result;
}
