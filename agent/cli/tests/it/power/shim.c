/*
 * Preloaded into a process: logs what it does to files below POWER_ROOT, in the order in which the kernel did it.
 *
 * One line of POWER_LOG per call, with tabs between: operation, inode, offset or 0, path, second path or bytes in hexadecimal.
 * The boot id is read from POWER_BOOT, so that whatever reads the files later is in another boot.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

#define REAL(type, name, ...)                                    \
    static type (*real)(__VA_ARGS__);                            \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static ssize_t real_write(int fd, const void *bytes, size_t count) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return real(fd, bytes, count);
}

static int is_ours(const char *path) {
    const char *root = getenv("POWER_ROOT");
    return root && path && strncmp(path, root, strlen(root)) == 0;
}

/* The absolute path of a name in a folder that is open. */
static const char *absolute(int folder, const char *name, char *buffer) {
    if (!name || name[0] == '/') return name;
    char link[64];
    snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, buffer, PATH_MAX - 1);
    if (length < 0) return NULL;
    snprintf(buffer + length, PATH_MAX - (size_t)length, "/%s", name);
    return buffer;
}

static const char *path_of(int fd, char *buffer) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, buffer, PATH_MAX - 1);
    if (length < 0) return NULL;
    buffer[length] = 0;
    return buffer;
}

static unsigned long inode_of(const char *path) {
    struct stat data;
    return lstat(path, &data) == 0 ? (unsigned long)data.st_ino : 0;
}

static unsigned long inode_of_open(int fd) {
    struct stat data;
    return fstat(fd, &data) == 0 ? (unsigned long)data.st_ino : 0;
}

static void note(const char *operation, unsigned long inode, long offset, const char *path, const char *second,
                 const unsigned char *bytes, size_t count) {
    const char *log = getenv("POWER_LOG");
    if (!log) return;
    REAL(int, "open", const char *, int, ...);
    int fd = real(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) abort();
    size_t room = strlen(path) + (second ? strlen(second) : 0) + 2 * count + 128;
    char *line = malloc(room);
    if (!line) abort();
    int length = snprintf(line, room, "%s\t%lu\t%ld\t%s\t%s", operation, inode, offset, path, second ? second : "");
    for (size_t at = 0; at < count; at++) length += sprintf(line + length, "%02x", bytes[at]);
    line[length++] = '\n';
    if (real_write(fd, line, (size_t)length) != length) abort();
    free(line);
    close(fd);
}

static int open_and_note(int folder, const char *name, int flags, mode_t mode) {
    REAL(int, "openat", int, const char *, int, ...);
    if (name && strcmp(name, "/proc/sys/kernel/random/boot_id") == 0 && getenv("POWER_BOOT"))
        return real(AT_FDCWD, getenv("POWER_BOOT"), flags, mode);
    char buffer[PATH_MAX];
    const char *path = absolute(folder, name, buffer);
    if (!is_ours(path) || !(flags & (O_CREAT | O_TRUNC))) return real(folder, name, flags, mode);
    pthread_mutex_lock(&order);
    int existed = inode_of(path) != 0;
    int fd = real(folder, name, flags, mode);
    if (fd >= 0 && !existed)
        note("create", inode_of_open(fd), 0, path, NULL, NULL, 0);
    else if (fd >= 0 && (flags & O_TRUNC))
        note("truncate", inode_of_open(fd), 0, path, NULL, NULL, 0);
    pthread_mutex_unlock(&order);
    return fd;
}

static mode_t mode_of(int flags, va_list more) {
    return flags & O_CREAT ? (mode_t)va_arg(more, int) : 0;
}

#define OPEN(name)                                                \
    int name(const char *path, int flags, ...) {                  \
        va_list more;                                             \
        va_start(more, flags);                                    \
        mode_t mode = mode_of(flags, more);                       \
        va_end(more);                                             \
        return open_and_note(AT_FDCWD, path, flags, mode);        \
    }
OPEN(open)
OPEN(open64)

#define OPEN_AT(name)                                             \
    int name(int folder, const char *path, int flags, ...) {      \
        va_list more;                                             \
        va_start(more, flags);                                    \
        mode_t mode = mode_of(flags, more);                       \
        va_end(more);                                             \
        return open_and_note(folder, path, flags, mode);          \
    }
OPEN_AT(openat)
OPEN_AT(openat64)

/* Runs a call on an open file and notes it if it succeeds. */
#define ON_OPEN(fd, result, call, noting)                         \
    char buffer[PATH_MAX];                                        \
    const char *path = getenv("POWER_ROOT") ? path_of(fd, buffer) : NULL; \
    if (!is_ours(path)) return call;                              \
    pthread_mutex_lock(&order);                                   \
    result = call;                                                \
    if (done >= 0) noting;                                        \
    pthread_mutex_unlock(&order);                                 \
    return done

ssize_t write(int fd, const void *bytes, size_t count) {
    ON_OPEN(fd, ssize_t done, real_write(fd, bytes, count),
            note("write", inode_of_open(fd), (long)(lseek(fd, 0, SEEK_CUR) - done), path, NULL, bytes, (size_t)done));
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    char buffer[PATH_MAX];
    if (!is_ours(getenv("POWER_ROOT") ? path_of(fd, buffer) : NULL)) return real(fd, parts, count);
    /* A short write is allowed. */
    return count > 0 ? write(fd, parts[0].iov_base, parts[0].iov_len) : 0;
}

#define PWRITE(name)                                              \
    ssize_t name(int fd, const void *bytes, size_t count, off_t offset) { \
        REAL(ssize_t, #name, int, const void *, size_t, off_t);   \
        ON_OPEN(fd, ssize_t done, real(fd, bytes, count, offset), \
                note("write", inode_of_open(fd), (long)offset, path, NULL, bytes, (size_t)done)); \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

static void note_sync(int fd, const char *path) {
    struct stat data;
    if (fstat(fd, &data) != 0) abort();
    note(S_ISDIR(data.st_mode) ? "sync_folder" : "sync", (unsigned long)data.st_ino, 0, path, NULL, NULL, 0);
}

#define SYNC(name)                                                \
    int name(int fd) {                                            \
        REAL(int, #name, int);                                    \
        ON_OPEN(fd, int done, real(fd), note_sync(fd, path));     \
    }
SYNC(fsync)
SYNC(fdatasync)

#define RESIZE(name)                                              \
    int name(int fd, off_t size) {                                \
        REAL(int, #name, int, off_t);                             \
        ON_OPEN(fd, int done, real(fd, size),                     \
                note("truncate", inode_of_open(fd), (long)size, path, NULL, NULL, 0)); \
    }
RESIZE(ftruncate)
RESIZE(ftruncate64)

static void note_names(const char *operation, const char *from, const char *to) {
    if (is_ours(from) || is_ours(to)) note(operation, inode_of(to), 0, from, to, NULL, 0);
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    pthread_mutex_lock(&order);
    int done = real(from, to);
    if (done == 0) note_names("rename", from, to);
    pthread_mutex_unlock(&order);
    return done;
}

int linkat(int folder, const char *from, int other, const char *to, int flags) {
    REAL(int, "linkat", int, const char *, int, const char *, int);
    pthread_mutex_lock(&order);
    int done = real(folder, from, other, to, flags);
    char buffers[2][PATH_MAX];
    if (done == 0) note_names("link", absolute(folder, from, buffers[0]), absolute(other, to, buffers[1]));
    pthread_mutex_unlock(&order);
    return done;
}

int link(const char *from, const char *to) {
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int mkdirat(int folder, const char *name, mode_t mode) {
    REAL(int, "mkdirat", int, const char *, mode_t);
    char buffer[PATH_MAX];
    const char *path = absolute(folder, name, buffer);
    pthread_mutex_lock(&order);
    int done = real(folder, name, mode);
    if (done == 0 && is_ours(path)) note("folder", inode_of(path), 0, path, NULL, NULL, 0);
    pthread_mutex_unlock(&order);
    return done;
}

int mkdir(const char *path, mode_t mode) {
    return mkdirat(AT_FDCWD, path, mode);
}

int unlinkat(int folder, const char *name, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    char buffer[PATH_MAX];
    const char *path = absolute(folder, name, buffer);
    pthread_mutex_lock(&order);
    int done = real(folder, name, flags);
    if (done == 0 && is_ours(path)) note("remove", 0, 0, path, NULL, NULL, 0);
    pthread_mutex_unlock(&order);
    return done;
}

int unlink(const char *path) {
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path) {
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}
