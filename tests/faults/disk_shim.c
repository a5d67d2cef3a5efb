/* Interposes (LD_PRELOAD) the file calls that SQLite and wheeld make below one directory: records each call with its
 * data, and makes one of them fail, write too little, or be the last one of the process. `disk_shim.py` builds and drives it.
 *
 * Every call on a watched file has a number, counted across forks. The system calls are made directly. The -shm file
 * is watched like the others, but what is stored through its mapping is no file call. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "pwrite and pwrite64 are taken for the same");

enum { FD_MAX = 1024, NAME = 40 };
enum { WATCH, FAIL, SHORT, SHORT_THEN_FULL, KILL_BEFORE, KILL_AFTER, READ_ONLY }; /* `Mode` in disk_shim.py */

static char under[PATH_MAX], names[FD_MAX][NAME]; /* the directory; the watched file that is open as fd, or "" */
static size_t under_length;
static int log_fd = -1, mode, failure, with_data;
static int64_t at, *count;

struct record { /* the same in disk_shim.py; `length` bytes of data follow */
    char kind[8], name[NAME];
    int64_t n, offset, result, length;
};

static void note(const char *kind, const char *name, int64_t n, int64_t offset, int64_t result, const void *data,
                 size_t length)
{
    struct record record = {.n = n, .offset = offset, .result = result, .length = (int64_t)length};
    strncpy(record.kind, kind, sizeof record.kind - 1);
    strncpy(record.name, name, sizeof record.name - 1);
    struct iovec parts[] = {{&record, sizeof record}, {(void *)data, length}};
    syscall(SYS_writev, log_fd, parts, 2);
}

/* --- what disk_shim.py calls ------------------------------------------------------------------------------------ */

/* From now on (1) watch everything below `directory`, and let `mode_` happen at call number `at_`. */
int disk_begin(const char *directory, const char *log_path, int mode_, long at_, int failure_, int with_data_)
{
    if (!count)
        count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    log_fd = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0 || count == MAP_FAILED)
        return -1;
    under_length = strlen(strcpy(under, directory));
    mode = mode_, at = at_, failure = failure_, with_data = with_data_, *count = 0;
    return 0;
}

void disk_end(void)
{
    syscall(SYS_close, log_fd);
    log_fd = -1, under_length = 0;
    memset(names, 0, sizeof names);
}

void disk_mark(const void *data, size_t length) { note("mark", "", *count, 0, 0, data, length); }

/* --- before and after each call --------------------------------------------------------------------------------- */

/* The name of a watched path: "." is the directory itself. */
static const char *watched(const char *path)
{
    if (!under_length || strncmp(path, under, under_length))
        return NULL;
    return path[under_length] == 0 ? "." : path[under_length] == '/' ? path + under_length + 1 : NULL;
}

static const char *watched_fd(int fd) { return fd >= 0 && fd < FD_MAX && names[fd][0] ? names[fd] : NULL; }

/* Count the call, perhaps end the process; 0: it may be made, else its error. `length` is of a write. */
static int enter(int64_t *n, int changes, size_t *length)
{
    *n = ++*count;
    if (mode == KILL_BEFORE && *n == at)
        syscall(SYS_kill, getpid(), SIGKILL);
    if ((mode == SHORT || mode == SHORT_THEN_FULL) && *n == at && length)
        *length /= 2;
    if (mode == SHORT_THEN_FULL && *n == at + 1)
        return ENOSPC;
    if (mode == READ_ONLY && *n >= at && changes)
        return EROFS;
    return mode == FAIL && *n == at ? failure : 0;
}

static long leave(const char *kind, const char *name, int64_t n, int64_t offset, long result, const void *data)
{
    int error = errno;
    note(kind, name, n, offset, result < 0 ? -error : result, data, data && with_data && result > 0 ? result : 0);
    if (mode == KILL_AFTER && n == at)
        syscall(SYS_kill, getpid(), SIGKILL);
    errno = error;
    return result;
}

static long fail(int error)
{
    errno = error;
    return -1;
}

/* --- the calls -------------------------------------------------------------------------------------------------- */

static int open_at(int directory, const char *path, int flags, mode_t permissions)
{
    const char *name = watched(path);
    if (!name)
        return (int)syscall(SYS_openat, directory, path, flags, permissions);
    int64_t n;
    int error = enter(&n, (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT), NULL);
    int is_new = (flags & O_CREAT) && syscall(SYS_faccessat, directory, path, F_OK) != 0;
    long fd = error ? fail(error) : syscall(SYS_openat, directory, path, flags, permissions);
    if (fd >= 0 && fd < FD_MAX)
        snprintf(names[fd], NAME, "%s", name);
    return (int)leave(is_new ? "create" : "open", name, n, 0, fd, NULL);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t permissions = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_at(AT_FDCWD, path, flags, permissions);
}

int openat(int directory, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    mode_t permissions = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_at(directory, path, flags, permissions);
}

int close(int fd)
{
    const char *name = watched_fd(fd);
    if (!name)
        return (int)syscall(SYS_close, fd);
    int64_t n;
    enter(&n, 0, NULL); /* Linux has closed it even when close returns an error */
    long result = leave("close", name, n, 0, syscall(SYS_close, fd), NULL);
    names[fd][0] = 0;
    return (int)result;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    const char *name = watched_fd(fd);
    if (!name)
        return syscall(SYS_pwrite64, fd, data, length, offset);
    int64_t n;
    int error = enter(&n, 1, &length);
    return leave("write", name, n, offset, error ? fail(error) : syscall(SYS_pwrite64, fd, data, length, offset), data);
}

ssize_t write(int fd, const void *data, size_t length)
{
    if (!watched_fd(fd))
        return syscall(SYS_write, fd, data, length);
    ssize_t result = pwrite(fd, data, length, lseek(fd, 0, SEEK_CUR));
    if (result > 0)
        lseek(fd, result, SEEK_CUR);
    return result;
}

ssize_t pread(int fd, void *data, size_t length, off_t offset)
{
    const char *name = watched_fd(fd);
    if (!name)
        return syscall(SYS_pread64, fd, data, length, offset);
    int64_t n;
    int error = enter(&n, 0, NULL);
    return leave("read", name, n, offset, error ? fail(error) : syscall(SYS_pread64, fd, data, length, offset), NULL);
}

static int sync_by(long call, int fd)
{
    const char *name = watched_fd(fd);
    if (!name)
        return (int)syscall(call, fd);
    int64_t n;
    int error = enter(&n, 0, NULL);
    return (int)leave("sync", name, n, 0, error ? fail(error) : syscall(call, fd), NULL);
}

int fsync(int fd) { return sync_by(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_by(SYS_fdatasync, fd); }

int ftruncate(int fd, off_t size)
{
    const char *name = watched_fd(fd);
    if (!name)
        return (int)syscall(SYS_ftruncate, fd, size);
    int64_t n;
    int error = enter(&n, 1, NULL);
    return (int)leave("cut", name, n, size, error ? fail(error) : syscall(SYS_ftruncate, fd, size), NULL);
}

int unlink(const char *path)
{
    const char *name = watched(path);
    if (!name)
        return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    int64_t n;
    int error = enter(&n, 1, NULL);
    return (int)leave("unlink", name, n, 0, error ? fail(error) : syscall(SYS_unlinkat, AT_FDCWD, path, 0), NULL);
}

int rename(const char *from, const char *to)
{
    const char *name = watched(from);
    if (!name)
        return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    int64_t n;
    int error = enter(&n, 1, NULL);
    long result = error ? fail(error) : syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    return (int)leave("rename", name, n, 0, result, NULL);
}

/* On a machine whose off_t has 64 bits these are the same calls. */
int open64(const char *, int, ...) __attribute__((alias("open")));
int openat64(int, const char *, int, ...) __attribute__((alias("openat")));
ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));
ssize_t pread64(int, void *, size_t, off_t) __attribute__((alias("pread")));
int ftruncate64(int, off_t) __attribute__((alias("ftruncate")));
