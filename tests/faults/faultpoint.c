/* A disk that fails at one chosen point: the N-th file operation below a folder.
 *
 * Preloaded (LD_PRELOAD) it stands between a program and the C library, so it also sees what SQLite does. It counts
 * the operations that change files, and at the N-th the program is killed, the write is torn, or the call fails. The
 * environment says what is to happen:
 *
 *   FAULT_UNDER   the folder; operations elsewhere are none of our business
 *   FAULT_AT      N, counted from 1; 0 only counts
 *   FAULT_HOW     kill    die (SIGKILL) before the operation
 *                 torn    write the first half, then die; what is no write dies before it
 *                 short   write the first half and say so; what is no write goes through
 *                 EIO, ENOSPC, EROFS, ...   fail with that error, having done nothing
 *   FAULT_LASTS   set: every later operation fails as well, as on a disk that stays full
 *   FAULT_READS   set: reading counts too
 *   FAULT_FUSE    a file; the fault happens only to the process that manages to remove it, so that of a server and
 *                 the workers it forks only one is hit
 *   FAULT_TRACE   a file that gets one line "N operation path" per operation
 *   FAULT_LOG     a file that gets each operation that was done, with what was written: `powercut.py` reads it
 *
 * A process that forks for each call calls `faultpoint_begin` in the child, once the variables are set there.
 * Programs that the program starts are left alone: they find neither these variables nor LD_PRELOAD.
 * The real operations are made with system calls, in their *at forms, which every 64-bit Linux has.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum how { NOTHING, KILL, TORN, SHORT, FAIL };

static char under[PATH_MAX], fuse[PATH_MAX];
static size_t under_length;
static long at, count;
static enum how how;
static int error_number, lasts, reads, trace = -1, oplog = -1;

/* --- the settings ------------------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    enum how how;
    int error;
} HOWS[] = {
    {"kill", KILL, 0},        {"torn", TORN, 0},        {"short", SHORT, 0},      {"EIO", FAIL, EIO},
    {"ENOSPC", FAIL, ENOSPC}, {"EROFS", FAIL, EROFS},   {"EDQUOT", FAIL, EDQUOT}, {"EACCES", FAIL, EACCES},
    {"EMFILE", FAIL, EMFILE}, {"ENOMEM", FAIL, ENOMEM},
};

static const char *take(const char *name, char *into) {
    const char *value = getenv(name);
    snprintf(into, PATH_MAX, "%s", value ? value : "");
    unsetenv(name);
    return into;
}

__attribute__((constructor)) void faultpoint_begin(void) {
    char value[PATH_MAX];
    count = 0;
    unsetenv("LD_PRELOAD");
    under_length = strlen(take("FAULT_UNDER", under));
    at = atol(take("FAULT_AT", value));
    take("FAULT_HOW", value);
    for (size_t i = 0; i < sizeof HOWS / sizeof *HOWS; i++)
        if (!strcmp(value, HOWS[i].name)) {
            how = HOWS[i].how;
            error_number = HOWS[i].error;
        }
    lasts = *take("FAULT_LASTS", value) != 0;
    reads = *take("FAULT_READS", value) != 0;
    take("FAULT_FUSE", fuse);
    if (*take("FAULT_TRACE", value))
        trace = syscall(SYS_openat, AT_FDCWD, value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (*take("FAULT_LOG", value))
        oplog = syscall(SYS_openat, AT_FDCWD, value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* --- counting ---------------------------------------------------------------------------------------------------- */

static int is_under(const char *path) {
    return under_length && !strncmp(path, under, under_length) && (path[under_length] == '/' || !path[under_length]);
}

static int name_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return 1;
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

/* What shall happen to this operation. Death before it needs no answer. */
static enum how meet(const char *operation, const char *path, int is_write) {
    long number = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
    if (trace >= 0) {
        char line[PATH_MAX + 64];
        int length = snprintf(line, sizeof line, "%ld %s %s\n", number, operation, path);
        syscall(SYS_write, trace, line, length);
    }
    if (!at || number < at || (number > at && !lasts)) return NOTHING;
    if (*fuse && syscall(SYS_unlinkat, AT_FDCWD, fuse, 0)) return NOTHING;
    if (how == KILL || (how == TORN && !is_write)) die();
    return how == SHORT && !is_write ? NOTHING : how;
}

/* --- the log: what was done, in one write each ---------------------------------------------------------------------- */

static void logged(char operation, const char *path, const char *to, off_t at, const void *data, size_t size) {
    if (oplog < 0 || !is_under(path)) return;
    uint32_t lengths[2] = {strlen(path), strlen(to)};
    int64_t numbers[2] = {at, size};
    struct iovec parts[] = {
        {&operation, 1},       {lengths, sizeof lengths}, {numbers, sizeof numbers}, {(void *)path, lengths[0]},
        {(void *)to, lengths[1]}, {(void *)data, data ? size : 0},
    };
    syscall(SYS_writev, oplog, parts, 6);
}

static void logged_fd(char operation, int fd, off_t at, const void *data, size_t size) {
    char path[PATH_MAX];
    if (oplog >= 0 && name_of(fd, path)) logged(operation, path, "", at, data, size);
}

static const char *whole_name(int folder, const char *path, char *whole) {
    if (path[0] == '/' || folder == AT_FDCWD || !name_of(folder, whole)) return path;
    snprintf(whole + strlen(whole), PATH_MAX, "/%s", path);
    return whole;
}

static void logged_path(char operation, int folder, const char *path, int to_folder, const char *to) {
    char first[2 * PATH_MAX], second[2 * PATH_MAX];
    if (oplog >= 0) logged(operation, whole_name(folder, path, first), whole_name(to_folder, to, second), 0, NULL, 0);
}

static int refused(enum how what) {
    if (what == FAIL) errno = error_number;
    return what == FAIL;
}

/* An operation on a path, relative to a folder's descriptor as in the *at calls. */
static int refuses_path(const char *operation, int folder, const char *path) {
    char whole[2 * PATH_MAX];
    if (path[0] == '/')
        snprintf(whole, sizeof whole, "%s", path);
    else if (folder == AT_FDCWD || !name_of(folder, whole))
        return 0; /* our programs name files absolutely */
    else
        snprintf(whole + strlen(whole), PATH_MAX, "/%s", path);
    return is_under(whole) && refused(meet(operation, whole, 0));
}

static int refuses_fd(const char *operation, int fd) {
    char path[PATH_MAX];
    return name_of(fd, path) && is_under(path) && refused(meet(operation, path, 0));
}

/* --- writing: the one operation that can be done by halves ------------------------------------------------------- */

static ssize_t put(int fd, const void *data, size_t size, off_t offset) {
    ssize_t done = offset < 0 ? syscall(SYS_write, fd, data, size) : syscall(SYS_pwrite64, fd, data, size, offset);
    if (done > 0 && oplog >= 0)
        logged_fd('w', fd, offset < 0 ? syscall(SYS_lseek, fd, 0, SEEK_CUR) - done : offset, data, done);
    return done;
}

static ssize_t put_or_fail(const char *operation, int fd, const void *data, size_t size, off_t offset) {
    char path[PATH_MAX];
    if (!name_of(fd, path) || !is_under(path)) return put(fd, data, size, offset);
    enum how what = meet(operation, path, 1);
    if (refused(what)) return -1;
    if (what == NOTHING) return put(fd, data, size, offset);
    ssize_t done = put(fd, data, size / 2, offset);
    if (what == TORN) die();
    return done;
}

ssize_t write(int fd, const void *data, size_t size) { return put_or_fail("write", fd, data, size, -1); }

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return put_or_fail("pwrite", fd, data, size, offset);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) __attribute__((alias("pwrite")));

ssize_t writev(int fd, const struct iovec *parts, int number) {
    ssize_t total = 0;
    for (int i = 0; i < number; i++) {
        ssize_t done = write(fd, parts[i].iov_base, parts[i].iov_len);
        if (done < 0) return total ? total : -1;
        total += done;
        if ((size_t)done < parts[i].iov_len) break;
    }
    return total;
}

/* --- what is done whole or not at all ---------------------------------------------------------------------------- */

static int then(int failed, char operation, int fd, off_t at) {
    if (!failed) logged_fd(operation, fd, at, NULL, 0);
    return failed;
}

int fsync(int fd) { return refuses_fd("fsync", fd) ? -1 : then(syscall(SYS_fsync, fd), 's', fd, 0); }
int fdatasync(int fd) { return refuses_fd("fdatasync", fd) ? -1 : then(syscall(SYS_fdatasync, fd), 's', fd, 0); }

int ftruncate(int fd, off_t size) {
    return refuses_fd("ftruncate", fd) ? -1 : then(syscall(SYS_ftruncate, fd, size), 't', fd, size);
}
int ftruncate64(int fd, off_t size) __attribute__((alias("ftruncate")));

int mkdirat(int folder, const char *path, mode_t mode) {
    return refuses_path("mkdir", folder, path) ? -1 : syscall(SYS_mkdirat, folder, path, mode);
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int unlinkat(int folder, const char *path, int flags) {
    if (refuses_path("unlink", folder, path)) return -1;
    int failed = syscall(SYS_unlinkat, folder, path, flags);
    if (!failed) logged_path('u', folder, path, AT_FDCWD, "");
    return failed;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    if (refuses_path("link", to_folder, to)) return -1;
    int failed = syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
    if (!failed) logged_path('l', from_folder, from, to_folder, to);
    return failed;
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    if (refuses_path("rename", to_folder, to)) return -1;
    int failed = syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    if (!failed) logged_path('r', from_folder, from, to_folder, to);
    return failed;
}
int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    return renameat2(from_folder, from, to_folder, to, 0);
}
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

/* Opening to write counts even when nothing is made: a disk that is read-only refuses that too. */
static int open_or_fail(int folder, const char *path, int flags, mode_t mode) {
    int writes = (flags & (O_CREAT | O_TRUNC)) || (flags & O_ACCMODE) != O_RDONLY;
    if ((writes || reads) && refuses_path(writes ? "open" : "open-read", folder, path)) return -1;
    int fd = syscall(SYS_openat, folder, path, flags, mode);
    if (fd >= 0 && (flags & O_CREAT)) logged_path('c', folder, path, AT_FDCWD, "");
    if (fd >= 0 && (flags & O_TRUNC)) logged_fd('t', fd, 0, NULL, 0);
    return fd;
}

static mode_t mode_after(int flags, va_list rest) {
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_after(flags, rest);
    va_end(rest);
    return open_or_fail(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));

int openat(int folder, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = mode_after(flags, rest);
    va_end(rest);
    return open_or_fail(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));

/* --- reading, on request ----------------------------------------------------------------------------------------- */

ssize_t read(int fd, void *data, size_t size) {
    return reads && refuses_fd("read", fd) ? -1 : syscall(SYS_read, fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset) {
    return reads && refuses_fd("pread", fd) ? -1 : syscall(SYS_pread64, fd, data, size, offset);
}
ssize_t pread64(int fd, void *data, size_t size, off_t offset) __attribute__((alias("pread")));
