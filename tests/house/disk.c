/* Stands (LD_PRELOAD) between a program and its disk: while the control file says so, the disk is full, or slow.
 * `disk.py` builds and drives it. Only regular files are of the disk; what is written over is no new space. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "pwrite and pwrite64 are taken for the same");

struct control { volatile int full, slow_us, refused, delayed; }; /* the same in disk.py */
static struct control *control;

__attribute__((constructor)) static void begin(void)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, getenv("WHEELD_HOUSE_DISK"), O_RDWR);
    control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (control == MAP_FAILED)
        abort();
    close(fd);
}

static long fail(int error)
{
    errno = error;
    return -1;
}

/* Whether fd is of the disk; its size then. */
static int of_disk(int fd, off_t *size)
{
    struct stat found;
    if (fd < 0 || fstat(fd, &found) != 0 || !S_ISREG(found.st_mode))
        return 0;
    *size = found.st_size;
    return 1;
}

static void wait_for_disk(void)
{
    if (control->slow_us) {
        __sync_fetch_and_add(&control->delayed, 1);
        usleep((useconds_t)control->slow_us);
    }
}

/* Before `length` bytes are written there (`end`: where the file ends then): whether there is room. */
static int has_room(int fd, off_t end)
{
    off_t size;
    if ((!control->full && !control->slow_us) || !of_disk(fd, &size))
        return 1;
    wait_for_disk();
    if (!control->full || end <= size)
        return 1;
    __sync_fetch_and_add(&control->refused, 1);
    return 0;
}

static off_t place(int fd)
{
    int is_appended = (int)syscall(SYS_fcntl, fd, F_GETFL) & O_APPEND;
    return (off_t)syscall(SYS_lseek, fd, 0, is_appended ? SEEK_END : SEEK_CUR);
}

static off_t sum(const struct iovec *parts, int count)
{
    off_t length = 0;
    for (int each = 0; each < count; each++)
        length += (off_t)parts[each].iov_len;
    return length;
}

ssize_t write(int fd, const void *data, size_t length)
{
    return has_room(fd, place(fd) + (off_t)length) ? syscall(SYS_write, fd, data, length) : fail(ENOSPC);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return has_room(fd, place(fd) + sum(parts, count)) ? syscall(SYS_writev, fd, parts, count) : fail(ENOSPC);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t at)
{
    return has_room(fd, at + (off_t)length) ? syscall(SYS_pwrite64, fd, data, length, at) : fail(ENOSPC);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    return has_room(fd, at + sum(parts, count)) ? syscall(SYS_pwritev, fd, parts, count, at, 0) : fail(ENOSPC);
}

int posix_fallocate(int fd, off_t at, off_t length)
{
    return has_room(fd, at + length) && syscall(SYS_fallocate, fd, 0, at, length) == 0 ? 0 : ENOSPC;
}

size_t fwrite(const void *data, size_t size, size_t count, FILE *file)
{
    off_t end;
    if (control->full && of_disk(fileno(file), &end)) {
        __sync_fetch_and_add(&control->refused, 1);
        errno = ENOSPC;
        return 0;
    }
    flockfile(file);
    size_t written = fwrite_unlocked(data, size, count, file);
    funlockfile(file);
    return written;
}

static int sync_by(long call, int fd)
{
    wait_for_disk();
    return (int)syscall(call, fd);
}

int fsync(int fd) { return sync_by(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_by(SYS_fdatasync, fd); }

/* On a machine whose off_t has 64 bits these are the same calls. */
ssize_t pwrite64(int, const void *, size_t, off_t) __attribute__((alias("pwrite")));
ssize_t pwritev64(int, const struct iovec *, int, off_t) __attribute__((alias("pwritev")));
int posix_fallocate64(int, off_t, off_t) __attribute__((alias("posix_fallocate")));
