/*
 * A hard disk for machines without one: a FUSE file system with the file "disk", whose requests take the time that a disk of 7200
 * revolutions a minute would take. scripts/slow-disk puts a loop device on it and says how to use it.
 *
 * The model. One arm serves one request at a time, in C-LOOK order. A request that does not continue the previous one costs a
 * seek by distance (Lee and Katz, "An analytic performance model of disk arrays", 1993), half a revolution, and its transfer; if it
 * lies so close ahead that waiting for the platter is quicker, it costs that. A request that continues costs its transfer alone, counted
 * from the end of the previous one if it arrives within a revolution: drives read ahead. Writes go to the drive's cache: they
 * cost their transfer, and a flush after them costs an average seek.
 *
 * In front of it, if requested, an LRU cache of blocks in a file: filled by reads; written blocks are removed.
 *
 * With a volatile write cache, a power cut loses any of the blocks that were written since the last flush. When it
 * lies, flushes do nothing, so it loses any of those written since then.
 *
 * Other files: "stat" (counters, one a line), "control" (take "error on|reads|writes|off", "delay_ms N", "power off SEED", "power on" or
 * "lie").
 */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000LL
#define REVOLUTION_MS 8.333
#define COMMAND_MS 0.15 /* from the request to the arm's start */
#define CYLINDERS 60000
#define BLOCK 4096
#define NOBODY UINT32_MAX

enum kind { READ, WRITE, FLUSH };

/* ---- time ---- */

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

static struct timespec as_timespec(int64_t ns) {
  return (struct timespec){.tv_sec = ns / (1000 * NS_PER_MS), .tv_nsec = ns % (1000 * NS_PER_MS)};
}

static void sleep_until(int64_t ns) {
  struct timespec then = as_timespec(ns);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR) {
  }
}

/* ---- the disk ---- */

struct request {
  enum kind kind;
  off_t at;
  size_t length;
  struct request *next;
};

/* Parameters of the disk; set once, at the start. bytes_per_ms 0: as fast as the backing file. */
static struct {
  int file;
  off_t size;
  double bytes_per_ms;
  double average_seek_ms;
  double shortest_ms, root_ms, linear_ms; /* of the seek curve */
} disk;

/* The arm, the requests that wait for it, and the counters. Under lock. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t freed;
  struct request *waiting;
  bool busy;
  bool unflushed;
  off_t at;        /* end of the last transfer */
  int64_t free_ns; /* when the last request was done */
  struct {
    long reads, writes, seeks, flushes, errors;
    double read_bytes, written_bytes, busy_ms;
  } count;
} arm = {.lock = PTHREAD_MUTEX_INITIALIZER, .freed = PTHREAD_COND_INITIALIZER};

/* Coefficients of t(d) = shortest + root * sqrt(d - 1) + linear * (d - 1), so that the mean over random seeks is the given average. */
static void set_seek_curve(double average_ms) {
  double shortest = 0.22 * average_ms, longest = 2.36 * average_ms;
  double span = 3.0 * (CYLINDERS - 1);
  disk.average_seek_ms = average_ms;
  disk.shortest_ms = shortest;
  disk.root_ms = (15 * average_ms - 10 * shortest - 5 * longest) / (3 * sqrt(CYLINDERS - 1));
  disk.linear_ms = (7 * shortest + 8 * longest - 15 * average_ms) / span;
}

static double seek_ms(off_t distance) {
  double cylinders = (double)llabs(distance) / disk.size * CYLINDERS;
  if (cylinders < 1) {
    return 0.3; /* settling on a track of the same cylinder */
  }
  return disk.shortest_ms + disk.root_ms * sqrt(cylinders - 1) + disk.linear_ms * (cylinders - 1);
}

/* Milliseconds until the platter is where the read begins; counts a seek if the arm has to move. */
static double reach_ms(off_t at) {
  off_t distance = at - arm.at;
  if (distance == 0) {
    return 0;
  }
  double move = COMMAND_MS + seek_ms(distance) + REVOLUTION_MS / 2;
  double pass = distance > 0 ? distance / disk.bytes_per_ms : INFINITY;
  if (pass < move) {
    return pass;
  }
  arm.count.seeks++;
  return move;
}

/* Cost of a request; records the arm's new position, and counts the request. */
static double cost_ms(const struct request *request) {
  double transfer = request->length / disk.bytes_per_ms;
  switch (request->kind) {
  case READ: {
    double reach = reach_ms(request->at);
    arm.at = request->at + request->length;
    return reach + transfer;
  }
  case WRITE:
    arm.unflushed = true;
    return transfer;
  default: {
    bool needed = arm.unflushed;
    arm.unflushed = false;
    return needed ? disk.average_seek_ms + REVOLUTION_MS / 2 : 0;
  }
  }
}

static void count(const struct request *request) {
  switch (request->kind) {
  case READ:
    arm.count.reads++;
    arm.count.read_bytes += request->length;
    break;
  case WRITE:
    arm.count.writes++;
    arm.count.written_bytes += request->length;
    break;
  default:
    arm.count.flushes++;
  }
}

/* C-LOOK: the nearest at or ahead of the arm; if none is ahead, the lowest. */
static struct request *next_in_sweep(void) {
  struct request *ahead = NULL, *lowest = NULL;
  for (struct request *each = arm.waiting; each; each = each->next) {
    if (each->at >= arm.at && (!ahead || each->at < ahead->at)) {
      ahead = each;
    }
    if (!lowest || each->at < lowest->at) {
      lowest = each;
    }
  }
  return ahead ? ahead : lowest;
}

static void leave_queue(struct request *request) {
  struct request **link = &arm.waiting;
  while (*link != request) {
    link = &(*link)->next;
  }
  *link = request->next;
}

/* Waits for the arm; returns when the request will be done. */
static int64_t take_arm(struct request *request) {
  pthread_mutex_lock(&arm.lock);
  request->next = arm.waiting;
  arm.waiting = request;
  while (arm.busy || next_in_sweep() != request) {
    pthread_cond_wait(&arm.freed, &arm.lock);
  }
  leave_queue(request);
  arm.busy = true;
  bool continues = request->kind == READ && request->at == arm.at;
  int64_t now = now_ns();
  bool read_ahead = continues && now - arm.free_ns < REVOLUTION_MS * NS_PER_MS;
  double cost = cost_ms(request);
  count(request);
  arm.count.busy_ms += cost;
  arm.free_ns = (read_ahead ? arm.free_ns : now) + (int64_t)(cost * NS_PER_MS);
  int64_t done = arm.free_ns;
  pthread_mutex_unlock(&arm.lock);
  return done;
}

static void free_arm(void) {
  pthread_mutex_lock(&arm.lock);
  arm.busy = false;
  pthread_cond_broadcast(&arm.freed);
  pthread_mutex_unlock(&arm.lock);
}

/* Injected faults. Under lock; the condition is signalled when they change. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool read_errors, write_errors, power_off;
  long delay_ms;
} fault = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_off(void) {
  pthread_mutex_lock(&fault.lock);
  bool off = fault.power_off;
  pthread_mutex_unlock(&fault.lock);
  return off;
}

/* ---- the volatile write cache ---- */

/* What a power cut may bring back: the bytes that blocks had at the last flush. Under lock, as are the writes. */
static struct {
  pthread_mutex_t lock;
  bool present, lying; /* lying: a flush does nothing */
  char **old;        /* by block of the disk: its bytes at the last flush; NULL if it was not written since */
  uint32_t *written; /* the blocks with such bytes */
  size_t count, room;
} undo = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *allocate(size_t number, size_t size) {
  void *memory = malloc(number * size);
  if (!memory) {
    perror("slow-disk: memory");
    exit(1);
  }
  return memory;
}

static void open_undo(void) {
  undo.present = true;
  undo.old = calloc(disk.size / BLOCK + 1, sizeof(char *));
  if (!undo.old) {
    perror("slow-disk: memory of the write cache");
    exit(1);
  }
}

static void note_written(uint32_t block) {
  if (undo.old[block]) {
    return;
  }
  if (undo.count == undo.room) {
    undo.room = undo.room ? 2 * undo.room : 1024;
    undo.written = realloc(undo.written, undo.room * sizeof(uint32_t));
    if (!undo.written) {
      perror("slow-disk: memory of the write cache");
      exit(1);
    }
  }
  char *old = allocate(BLOCK, 1);
  ssize_t got = pread(disk.file, old, BLOCK, (off_t)block * BLOCK);
  memset(old + (got > 0 ? got : 0), 0, BLOCK - (got > 0 ? got : 0));
  undo.old[block] = old;
  undo.written[undo.count++] = block;
}

static void forget_written(void) {
  for (size_t i = 0; i < undo.count; i++) {
    free(undo.old[undo.written[i]]);
    undo.old[undo.written[i]] = NULL;
  }
  undo.count = 0;
}

/* A power cut: a share of the blocks that were not flushed has its old bytes again. Share and blocks depend on the seed. */
static void lose_written(unsigned seed) {
  static const int lost_of_ten[] = {10, 5, 1};
  int share = lost_of_ten[rand_r(&seed) / 7 % 3];
  pthread_mutex_lock(&undo.lock);
  for (size_t i = 0; i < undo.count; i++) {
    uint32_t block = undo.written[i];
    if (rand_r(&seed) / 7 % 10 < share && pwrite(disk.file, undo.old[block], BLOCK, (off_t)block * BLOCK) != BLOCK) {
      perror("slow-disk: a lost block");
    }
  }
  forget_written();
  pthread_mutex_unlock(&undo.lock);
}

static ssize_t transfer_volatile(enum kind kind, char *bytes, off_t at, size_t length) {
  ssize_t done = 0;
  pthread_mutex_lock(&undo.lock);
  if (is_off()) {
    done = -EIO;
  } else if (kind == FLUSH) {
    if (!undo.lying) {
      forget_written();
    }
  } else {
    for (off_t block = at / BLOCK; length && block <= (off_t)(at + length - 1) / BLOCK; block++) {
      note_written(block);
    }
    done = pwrite(disk.file, bytes, length, at);
    done = done < 0 ? -errno : done;
  }
  pthread_mutex_unlock(&undo.lock);
  return done;
}

static ssize_t transfer(enum kind kind, char *bytes, off_t at, size_t length) {
  if (undo.present && kind != READ) {
    return transfer_volatile(kind, bytes, at, length);
  }
  ssize_t done = kind == READ ? pread(disk.file, bytes, length, at) : kind == WRITE ? pwrite(disk.file, bytes, length, at) : 0;
  return done < 0 ? -errno : done;
}

/* Executes a request in the time of the disk; returns bytes transferred, or a negative error number. */
static ssize_t serve(enum kind kind, char *bytes, off_t at, size_t length) {
  struct request request = {.kind = kind, .at = at, .length = length};
  if (disk.bytes_per_ms == 0) {
    pthread_mutex_lock(&arm.lock);
    count(&request);
    pthread_mutex_unlock(&arm.lock);
    return transfer(kind, bytes, at, length);
  }
  int64_t done = take_arm(&request);
  ssize_t transferred = transfer(kind, bytes, at, length);
  sleep_until(done);
  free_arm();
  return transferred;
}

/* ---- the cache in front of it ---- */

/* Slots of the cache's file, in a ring by use: after the head the most recently used, before it the least recently used. Under lock. */
static struct {
  pthread_mutex_t lock;
  int file;
  uint32_t slots, head;
  uint32_t *slot_of;      /* by block of the disk, or NOBODY */
  uint32_t *block_in;     /* by slot, or NOBODY */
  uint32_t *newer, *older; /* by slot; the head is the slot after the last */
  double hit_bytes;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};

static void unlink_slot(uint32_t slot) {
  cache.older[cache.newer[slot]] = cache.older[slot];
  cache.newer[cache.older[slot]] = cache.newer[slot];
}

/* Inserts a slot between another one and the one used before that. */
static void link_older(uint32_t newer, uint32_t slot) {
  cache.newer[slot] = newer;
  cache.older[slot] = cache.older[newer];
  cache.newer[cache.older[slot]] = slot;
  cache.older[newer] = slot;
}

static void touch(uint32_t slot) {
  unlink_slot(slot);
  link_older(cache.head, slot);
}

static void open_cache(const char *path, uint64_t bytes) {
  cache.file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (cache.file < 0) {
    perror(path);
    exit(1);
  }
  posix_fadvise(cache.file, 0, 0, POSIX_FADV_RANDOM);
  cache.slots = cache.head = bytes / BLOCK;
  uint32_t blocks = disk.size / BLOCK + 1;
  cache.slot_of = allocate(blocks, sizeof(uint32_t));
  cache.block_in = allocate(cache.slots, sizeof(uint32_t));
  cache.newer = allocate(cache.slots + 1, sizeof(uint32_t));
  cache.older = allocate(cache.slots + 1, sizeof(uint32_t));
  memset(cache.slot_of, 0xff, blocks * sizeof(uint32_t));
  memset(cache.block_in, 0xff, cache.slots * sizeof(uint32_t));
  cache.newer[cache.head] = cache.older[cache.head] = cache.head;
  for (uint32_t slot = 0; slot < cache.slots; slot++) {
    link_older(cache.head, slot);
  }
}

static void forget(uint32_t block) {
  uint32_t slot = cache.slot_of[block];
  if (slot != NOBODY) {
    cache.slot_of[block] = cache.block_in[slot] = NOBODY;
    unlink_slot(slot);
    link_older(cache.newer[cache.head], slot);
  }
}

static void keep(uint32_t block, const char *bytes) {
  uint32_t slot = cache.slot_of[block];
  if (slot == NOBODY) {
    slot = cache.newer[cache.head];
    if (cache.block_in[slot] != NOBODY) {
      forget(cache.block_in[slot]);
    }
  }
  if (pwrite(cache.file, bytes, BLOCK, (off_t)slot * BLOCK) != BLOCK) {
    forget(block);
    return;
  }
  cache.block_in[slot] = block;
  cache.slot_of[block] = slot;
  touch(slot);
}

/* Reads a block from the cache, if the cache has it. */
static bool hit(uint32_t block, char *bytes) {
  pthread_mutex_lock(&cache.lock);
  uint32_t slot = cache.slot_of[block];
  bool there = slot != NOBODY && pread(cache.file, bytes, BLOCK, (off_t)slot * BLOCK) == BLOCK;
  if (there) {
    touch(slot);
    cache.hit_bytes += BLOCK;
  }
  pthread_mutex_unlock(&cache.lock);
  return there;
}

/* Reads a run of blocks that the cache lacks from the disk, and caches them. */
static ssize_t fetch(char *bytes, off_t at, size_t length) {
  ssize_t got = length ? serve(READ, bytes, at, length) : 0;
  pthread_mutex_lock(&cache.lock);
  for (ssize_t done = 0; done + BLOCK <= got; done += BLOCK) {
    keep((at + done) / BLOCK, bytes + done);
  }
  pthread_mutex_unlock(&cache.lock);
  return got;
}

static ssize_t read_cached(char *bytes, off_t at, size_t length) {
  size_t missed = 0; /* bytes right before this block that the cache lacks */
  for (size_t done = 0; done < length; done += BLOCK) {
    if (!hit((at + done) / BLOCK, bytes + done)) {
      missed += BLOCK;
      continue;
    }
    ssize_t got = fetch(bytes + done - missed, at + done - missed, missed);
    if (got != (ssize_t)missed) {
      return got < 0 ? got : -EIO;
    }
    missed = 0;
  }
  ssize_t got = fetch(bytes + length - missed, at + length - missed, missed);
  return got == (ssize_t)missed ? (ssize_t)length : got < 0 ? got : -EIO;
}

static ssize_t read_disk(char *bytes, off_t at, size_t length) {
  bool whole_blocks = at % BLOCK == 0 && length % BLOCK == 0 && at + (off_t)length <= disk.size;
  return cache.file >= 0 && whole_blocks ? read_cached(bytes, at, length) : serve(READ, bytes, at, length);
}

static ssize_t write_disk(const char *bytes, off_t at, size_t length) {
  if (cache.file >= 0 && length) {
    pthread_mutex_lock(&cache.lock);
    for (uint32_t block = at / BLOCK; block <= (at + length - 1) / BLOCK; block++) {
      forget(block);
    }
    pthread_mutex_unlock(&cache.lock);
  }
  return serve(WRITE, (char *)bytes, at, length);
}

/* ---- faults ---- */

/* Waits for the delay, or until it is changed; returns whether the request must fail. */
static bool fails(enum kind kind) {
  pthread_mutex_lock(&fault.lock);
  long delay = fault.delay_ms;
  struct timespec deadline = as_timespec(now_ns() + delay * NS_PER_MS);
  while (delay && fault.delay_ms == delay && pthread_cond_timedwait(&fault.changed, &fault.lock, &deadline) == 0) {
  }
  bool failing = fault.power_off || (kind == READ ? fault.read_errors : fault.write_errors);
  pthread_mutex_unlock(&fault.lock);
  if (failing) {
    pthread_mutex_lock(&arm.lock);
    arm.count.errors++;
    pthread_mutex_unlock(&arm.lock);
  }
  return failing;
}

/* Executes one command; returns whether it is valid. */
static bool control(const char *order) {
  char word[16];
  long number;
  unsigned seed;
  bool understood = true, cut = false, lie = false;
  pthread_mutex_lock(&fault.lock);
  if (sscanf(order, "delay_ms %ld", &number) == 1 && number >= 0) {
    fault.delay_ms = number;
  } else if (sscanf(order, "error %15s", word) == 1 &&
             (!strcmp(word, "on") || !strcmp(word, "off") || !strcmp(word, "reads") || !strcmp(word, "writes"))) {
    fault.read_errors = !strcmp(word, "on") || !strcmp(word, "reads");
    fault.write_errors = !strcmp(word, "on") || !strcmp(word, "writes");
  } else if (sscanf(order, "power off %u", &seed) == 1) {
    cut = !fault.power_off;
    fault.power_off = true;
  } else if (!strncmp(order, "power on", strlen("power on"))) {
    fault.power_off = false;
  } else if (!strncmp(order, "lie", strlen("lie"))) {
    lie = true;
  } else {
    understood = false;
  }
  pthread_cond_broadcast(&fault.changed);
  pthread_mutex_unlock(&fault.lock);
  if (cut && undo.present) {
    /* No write follows: each looks at the power under the lock of the write cache. */
    lose_written(seed);
  }
  if (lie) {
    pthread_mutex_lock(&undo.lock);
    undo.lying = true;
    pthread_mutex_unlock(&undo.lock);
  }
  return understood;
}

static int describe_faults(char *text, size_t size) {
  pthread_mutex_lock(&fault.lock);
  const char *errors = fault.read_errors ? (fault.write_errors ? "on" : "reads") : fault.write_errors ? "writes" : "off";
  int length = snprintf(text, size, "error %s\ndelay_ms %ld\npower %s\n", errors, fault.delay_ms, fault.power_off ? "off" : "on");
  pthread_mutex_unlock(&fault.lock);
  return length;
}

static int describe_counters(char *text, size_t size) {
  pthread_mutex_lock(&cache.lock);
  double hit_mb = cache.hit_bytes / 1e6;
  pthread_mutex_unlock(&cache.lock);
  pthread_mutex_lock(&arm.lock);
  int length = snprintf(text, size,
                        "reads %ld\nread_mb %.3f\nseeks %ld\nwrites %ld\nwritten_mb %.3f\nflushes %ld\nbusy_s %.3f\n"
                        "cache_hit_mb %.3f\nerrors %ld\ncpu_s %.2f\n",
                        arm.count.reads, arm.count.read_bytes / 1e6, arm.count.seeks, arm.count.writes,
                        arm.count.written_bytes / 1e6, arm.count.flushes, arm.count.busy_ms / 1e3, hit_mb, arm.count.errors,
                        (double)clock() / CLOCKS_PER_SEC);
  pthread_mutex_unlock(&arm.lock);
  return length;
}

/* ---- the files ---- */

static bool is_disk(const char *path) { return !strcmp(path, "/disk"); }

static int get_attributes(const char *path, struct stat *out, struct fuse_file_info *unused) {
  (void)unused;
  memset(out, 0, sizeof *out);
  out->st_nlink = 1;
  out->st_mode = S_IFREG | 0600;
  if (!strcmp(path, "/")) {
    out->st_mode = S_IFDIR | 0700;
  } else if (is_disk(path)) {
    out->st_size = disk.size;
  } else if (strcmp(path, "/stat") && strcmp(path, "/control")) {
    return -ENOENT;
  }
  return 0;
}

static int list(const char *path, void *into, fuse_fill_dir_t fill, off_t from, struct fuse_file_info *unused,
                enum fuse_readdir_flags flags) {
  (void)path, (void)from, (void)unused, (void)flags;
  for (const char *const *name = (const char *const[]){"disk", "stat", "control", NULL}; *name; name++) {
    fill(into, *name, NULL, 0, 0);
  }
  return 0;
}

/* Bypasses the kernel's cache: every request must reach the disk, and counters must be current. */
static int open_file(const char *path, struct fuse_file_info *file) {
  (void)path;
  file->direct_io = 1;
  return 0;
}

static int read_file(const char *path, char *bytes, size_t length, off_t at, struct fuse_file_info *unused) {
  (void)unused;
  if (is_disk(path)) {
    return fails(READ) ? -EIO : read_disk(bytes, at, length);
  }
  char text[512];
  int size = !strcmp(path, "/stat") ? describe_counters(text, sizeof text) : describe_faults(text, sizeof text);
  if (at >= size) {
    return 0;
  }
  size_t left = size - at;
  length = length < left ? length : left;
  memcpy(bytes, text + at, length);
  return length;
}

static int write_file(const char *path, const char *bytes, size_t length, off_t at, struct fuse_file_info *unused) {
  (void)unused;
  if (is_disk(path)) {
    return fails(WRITE) ? -EIO : write_disk(bytes, at, length);
  }
  char order[64] = "";
  if (strcmp(path, "/control") || length >= sizeof order) {
    return -EINVAL;
  }
  memcpy(order, bytes, length);
  return control(order) ? (int)length : -EINVAL;
}

/* Only the disk's size matters; a shell that writes to "control" truncates it first. */
static int truncate_file(const char *path, off_t size, struct fuse_file_info *unused) {
  (void)size, (void)unused;
  return is_disk(path) ? -EINVAL : 0;
}

static int flush_disk(const char *path, int data_only, struct fuse_file_info *unused) {
  (void)data_only, (void)unused;
  if (!is_disk(path)) {
    return 0;
  }
  return fails(FLUSH) ? -EIO : (int)serve(FLUSH, NULL, 0, 0);
}

static void *start(struct fuse_conn_info *connection, struct fuse_config *config) {
  connection->max_write = connection->max_read = 1 << 20;
  connection->max_background = 64;
  config->direct_io = 1;
  return NULL;
}

static const struct fuse_operations operations = {
    .init = start,
    .getattr = get_attributes,
    .readdir = list,
    .open = open_file,
    .read = read_file,
    .write = write_file,
    .truncate = truncate_file,
    .fsync = flush_disk,
};

/* ---- the program ---- */

static int wrong_usage(void) {
  fputs("usage: slow-disk [--rate MB_PER_S] [--seek MS] [--cache-file FILE --cache-bytes N] [--write-cache volatile] IMAGE\n"
        "       MOUNT_POINT\n"
        "--rate 0: as fast as the image's disk. Stays in the foreground.\n",
        stderr);
  return 2;
}

static void open_disk(const char *path) {
  struct stat found;
  disk.file = open(path, O_RDWR);
  if (disk.file < 0 || fstat(disk.file, &found)) {
    perror(path);
    exit(1);
  }
  disk.size = found.st_size;
}

int main(int argc, char **argv) {
  static const struct option options[] = {{"rate", required_argument, NULL, 'r'},
                                          {"seek", required_argument, NULL, 's'},
                                          {"cache-file", required_argument, NULL, 'f'},
                                          {"cache-bytes", required_argument, NULL, 'b'},
                                          {"write-cache", required_argument, NULL, 'w'},
                                          {NULL, 0, NULL, 0}};
  double rate = 150, seek = 8.9;
  const char *cache_path = NULL, *write_cache = NULL;
  uint64_t cache_bytes = 0;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    switch (option) {
    case 'r': rate = atof(optarg); break;
    case 's': seek = atof(optarg); break;
    case 'f': cache_path = optarg; break;
    case 'b': cache_bytes = strtoull(optarg, NULL, 10); break;
    case 'w': write_cache = optarg; break;
    default: return wrong_usage();
    }
  }
  if (argc - optind != 2 || rate < 0 || seek < 0 || (cache_path != NULL) != (cache_bytes >= BLOCK) ||
      (write_cache && strcmp(write_cache, "volatile"))) {
    return wrong_usage();
  }
  open_disk(argv[optind]);
  disk.bytes_per_ms = rate * 1e3;
  set_seek_curve(seek);
  if (cache_path) {
    open_cache(cache_path, cache_bytes);
  }
  if (write_cache) {
    open_undo();
  }
  prctl(PR_SET_TIMERSLACK, 1000UL); /* else a sleep may be 50 microseconds too long */
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&fault.changed, &monotonic);
  /* More threads than requests that the kernel sends at a time: while all wait for a disk that hangs, an order must still be taken. */
  char *words[] = {argv[0], argv[optind + 1], "-f", "-o", "max_read=1048576,max_threads=64,fsname=slow-disk"};
  return fuse_main(5, words, &operations, NULL);
}
