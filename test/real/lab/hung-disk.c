/* Preloaded into PostgreSQL: a disk that hangs. While the file named by HUNG_DISK exists, every write and every
   synchronisation of a file below the folder that it contains blocks. Reads go on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int hangs(int fd) {
  const char *flag = getenv("HUNG_DISK");
  char link[64], path[PATH_MAX], folder[PATH_MAX];
  FILE *file = flag == NULL || access(flag, F_OK) != 0 ? NULL : fopen(flag, "r");
  if (file == NULL) return 0;
  size_t length = fread(folder, 1, sizeof folder - 1, file);
  fclose(file);
  folder[length] = 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t read = readlink(link, path, sizeof path - 1);
  return length > 0 && read > 0 && strncmp(path, folder, length) == 0;
}

#define HANGING(result, name, parameters, arguments)      \
  result name parameters {                                \
    static result(*real) parameters;                      \
    if (real == NULL) real = dlsym(RTLD_NEXT, #name);     \
    while (hangs(fd)) usleep(20000);                      \
    return real arguments;                                \
  }

HANGING(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size))
HANGING(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
HANGING(ssize_t, pwrite64, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
HANGING(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
HANGING(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
HANGING(int, fsync, (int fd), (fd))
HANGING(int, fdatasync, (int fd), (fd))
