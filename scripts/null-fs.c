/*
 * The limit of what a program can reach over /dev/fuse: a file system that keeps names and attributes in memory and throws bytes away
 * (reads give zeros). It agrees with the kernel on the same features as the volume, answers each request in one thread, at once, and
 * keeps the processors awake while requests flow. What a mount takes beyond it is the mount's own work; what this takes is the kernel's.
 * For scripts/bench metadata.
 *
 * Usage: null-fs DIR [noflush] [noxattr]; "umount DIR" ends it. Needs root.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#define FEATURES                                                                                                           \
  (FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_DONT_MASK | FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO | FUSE_ASYNC_DIO |    \
   FUSE_WRITEBACK_CACHE | FUSE_ATOMIC_O_TRUNC | FUSE_PARALLEL_DIROPS | FUSE_POSIX_ACL | FUSE_ABORT_ERROR | FUSE_MAX_PAGES | \
   FUSE_CACHE_SYMLINKS | FUSE_NO_OPENDIR_SUPPORT | FUSE_HANDLE_KILLPRIV_V2 | FUSE_SETXATTR_EXT)
#define IO_BYTES (1 << 20)
#define LIST_BYTES (64 << 10)
#define CACHE_SECONDS 86400
#define QUIET_MS 48 /* without a request: the processors may sleep */

struct node {
  struct fuse_attr attr;
  uint64_t lookups;
  char *target;          /* of a symbolic link */
  struct entry *entries; /* of a directory, in the order of their creation; removed ones have no node */
  uint32_t used, room;
  uint32_t *slots; /* hash table of numbers of entries, from 1; twice as large as the room */
  struct node *parent;
};

struct entry {
  char *name;
  struct node *node;
};

static struct node root;
static uint64_t last_inode = FUSE_ROOT_ID;
static bool no_flush, no_xattr;
static int device;
static char request[IO_BYTES + 4096], reply[IO_BYTES + 4096];
static size_t filled; /* bytes of the reply's body */

/* ---- processors that are awake while requests flow ---- */

static volatile long served;

static void on_tick(int signal_number) {
  static long seen;
  static int held = -1;
  (void)signal_number;
  if (served != seen && held < 0) {
    int none = 0;
    held = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
    if (held >= 0 && write(held, &none, sizeof none) < 0) {
      close(held);
      held = -1;
    }
  } else if (served == seen && held >= 0) {
    close(held);
    held = -1;
  }
  seen = served;
}

static void keep_awake(void) {
  struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
  struct itimerval tick = {.it_interval.tv_usec = QUIET_MS * 1000, .it_value.tv_usec = QUIET_MS * 1000};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &tick, NULL);
}

/* ---- names ---- */

static void *must(void *memory) {
  if (!memory) {
    _exit(EX_OSERR);
  }
  return memory;
}

static uint32_t hash(const char *name) {
  uint32_t sum = 2166136261u;
  for (; *name; name++) {
    sum = (sum ^ (unsigned char)*name) * 16777619u;
  }
  return sum;
}

static void put_slot(struct node *directory, uint32_t number) {
  uint32_t mask = 2 * directory->room - 1, at = hash(directory->entries[number].name) & mask;
  while (directory->slots[at]) {
    at = (at + 1) & mask;
  }
  directory->slots[at] = number + 1;
}

static struct entry *find(const struct node *directory, const char *name) {
  if (!directory->room) {
    return NULL;
  }
  uint32_t mask = 2 * directory->room - 1;
  for (uint32_t at = hash(name) & mask; directory->slots[at]; at = (at + 1) & mask) {
    struct entry *entry = &directory->entries[directory->slots[at] - 1];
    if (entry->node && !strcmp(entry->name, name)) {
      return entry;
    }
  }
  return NULL;
}

static void touch(struct node *directory, const struct node *child, int links) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  directory->attr.mtime = directory->attr.ctime = now.tv_sec;
  directory->attr.mtimensec = directory->attr.ctimensec = now.tv_nsec;
  directory->attr.nlink += S_ISDIR(child->attr.mode) ? links : 0;
}

static void add(struct node *directory, const char *name, struct node *node) {
  if (directory->used == directory->room) {
    directory->room = directory->room ? 2 * directory->room : 8;
    directory->entries = must(realloc(directory->entries, directory->room * sizeof *directory->entries));
    free(directory->slots);
    directory->slots = must(calloc(2 * directory->room, sizeof *directory->slots));
    for (uint32_t number = 0; number < directory->used; number++) {
      put_slot(directory, number);
    }
  }
  directory->entries[directory->used] = (struct entry){.name = must(strdup(name)), .node = node};
  put_slot(directory, directory->used++);
  node->parent = directory;
  touch(directory, node, 1);
}

/* The entry stays in its slot, so that searches go on past it. */
static void drop(struct node *directory, struct entry *entry) {
  touch(directory, entry->node, -1);
  entry->node = NULL;
}

static bool is_empty(const struct node *directory) {
  for (uint32_t number = 0; number < directory->used; number++) {
    if (directory->entries[number].node) {
      return false;
    }
  }
  return true;
}

static void release(struct node *node, uint64_t lookups) {
  node->lookups -= lookups;
  if (node == &root || node->lookups || node->attr.nlink) {
    return;
  }
  for (uint32_t number = 0; number < node->used; number++) {
    free(node->entries[number].name);
  }
  free(node->entries);
  free(node->slots);
  free(node->target);
  free(node);
}

static void unlink_node(struct node *node) {
  node->attr.nlink -= S_ISDIR(node->attr.mode) ? 2 : 1;
  release(node, 0);
}

/* ---- answers ---- */

static struct node *node_of(uint64_t id) { return id == FUSE_ROOT_ID ? &root : (struct node *)(uintptr_t)id; }

static void *put(size_t bytes) {
  void *place = reply + sizeof(struct fuse_out_header) + filled;
  memset(place, 0, bytes);
  filled += bytes;
  return place;
}

static void put_entry(struct node *node) {
  struct fuse_entry_out *out = put(sizeof *out);
  out->nodeid = node == &root ? FUSE_ROOT_ID : (uint64_t)(uintptr_t)node;
  out->entry_valid = out->attr_valid = CACHE_SECONDS;
  out->attr = node->attr;
  node->lookups++;
}

static int answer_attributes(const struct node *node) {
  struct fuse_attr_out *out = put(sizeof *out);
  out->attr_valid = CACHE_SECONDS;
  out->attr = node->attr;
  return 0;
}

static struct node *make(struct node *directory, const char *name, uint32_t mode, const struct fuse_in_header *in) {
  struct node *node = must(calloc(1, sizeof *node));
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  node->attr = (struct fuse_attr){
      .ino = ++last_inode,
      .mode = mode,
      .nlink = S_ISDIR(mode) ? 2 : 1,
      .uid = in->uid,
      .gid = in->gid,
      .blksize = 4096,
      .atime = now.tv_sec,
      .mtime = now.tv_sec,
      .ctime = now.tv_sec,
      .atimensec = now.tv_nsec,
      .mtimensec = now.tv_nsec,
      .ctimensec = now.tv_nsec,
  };
  add(directory, name, node);
  put_entry(node);
  return node;
}

static int look_up(struct node *directory, const char *name) {
  struct entry *found = find(directory, name);
  if (found) {
    put_entry(found->node);
  } else {
    ((struct fuse_entry_out *)put(sizeof(struct fuse_entry_out)))->entry_valid = CACHE_SECONDS;
  }
  return 0;
}

static int change(struct node *node, const struct fuse_setattr_in *in) {
  struct fuse_attr *attr = &node->attr;
  attr->mode = in->valid & FATTR_MODE ? (attr->mode & S_IFMT) | (in->mode & 07777) : attr->mode;
  attr->uid = in->valid & FATTR_UID ? in->uid : attr->uid;
  attr->gid = in->valid & FATTR_GID ? in->gid : attr->gid;
  attr->size = in->valid & FATTR_SIZE ? in->size : attr->size;
  if (in->valid & FATTR_ATIME) {
    attr->atime = in->atime;
    attr->atimensec = in->atimensec;
  }
  if (in->valid & FATTR_MTIME) {
    attr->mtime = in->mtime;
    attr->mtimensec = in->mtimensec;
  }
  if (in->valid & FATTR_CTIME) {
    attr->ctime = in->ctime;
    attr->ctimensec = in->ctimensec;
  }
  return answer_attributes(node);
}

static int rename_node(struct node *from, const char *name, struct node *to, const char *new_name, uint32_t flags) {
  struct entry *source = find(from, name), *target = find(to, new_name);
  if (!source) {
    return ENOENT;
  }
  if (flags) {
    return flags == RENAME_NOREPLACE && target ? EEXIST : EINVAL;
  }
  struct node *moved = source->node;
  if (target && target->node == moved) {
    return 0;
  }
  if (target && S_ISDIR(target->node->attr.mode) && !is_empty(target->node)) {
    return ENOTEMPTY;
  }
  if (target) {
    struct node *replaced = target->node;
    drop(to, target);
    unlink_node(replaced);
  }
  drop(from, source);
  add(to, new_name, moved);
  return 0;
}

static int remove_name(struct node *directory, const char *name) {
  struct entry *found = find(directory, name);
  if (!found) {
    return ENOENT;
  }
  struct node *node = found->node;
  if (S_ISDIR(node->attr.mode) && !is_empty(node)) {
    return ENOTEMPTY;
  }
  drop(directory, found);
  unlink_node(node);
  return 0;
}

/* The cookie of an entry is its number plus 3; "." and ".." have 1 and 2. */
static int list(struct node *directory, const struct fuse_read_in *in, bool with_attributes) {
  size_t room = in->size < LIST_BYTES ? in->size : LIST_BYTES;
  for (uint64_t at = in->offset; at < directory->used + 2ULL; at++) {
    struct entry *entry = at < 2 ? NULL : &directory->entries[at - 2];
    if (entry && !entry->node) {
      continue;
    }
    const char *name = entry ? entry->name : at ? ".." : ".";
    const struct node *node = entry ? entry->node : at && directory != &root ? directory->parent : directory;
    size_t length = strlen(name), bytes = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length);
    if (filled + bytes + (with_attributes ? sizeof(struct fuse_entry_out) : 0) > room) {
      break;
    }
    if (with_attributes && entry) {
      put_entry(entry->node);
    } else if (with_attributes) {
      put(sizeof(struct fuse_entry_out));
    }
    struct fuse_dirent *out = put(bytes);
    *out = (struct fuse_dirent){.ino = node->attr.ino, .off = at + 1, .namelen = length, .type = node->attr.mode >> 12};
    memcpy(out->name, name, length);
  }
  return 0;
}

static int answer_space(void) {
  struct fuse_kstatfs *out = put(sizeof(struct fuse_statfs_out));
  *out = (struct fuse_kstatfs){.blocks = 1 << 28, .bfree = 1 << 28, .bavail = 1 << 28, .files = 1 << 30, .ffree = 1 << 30,
                               .bsize = 4096, .namelen = 255, .frsize = 4096};
  return 0;
}

static int agree(const struct fuse_init_in *in) {
  struct fuse_init_out *out = put(sizeof *out);
  *out = (struct fuse_init_out){.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION,
                                .max_readahead = in->max_readahead, .flags = in->flags & FEATURES, .max_background = 64,
                                .congestion_threshold = 48, .max_write = IO_BYTES, .time_gran = 1,
                                .max_pages = IO_BYTES / 4096};
  return 0;
}

/* Serves one request. Returns 0, or the number of an error. */
static int serve(const struct fuse_in_header *in) {
  const void *body = in + 1;
  const char *name = body;
  struct node *node = in->nodeid ? node_of(in->nodeid) : NULL;
  switch (in->opcode) {
  case FUSE_INIT:
    return agree(body);
  case FUSE_LOOKUP:
    return look_up(node, name);
  case FUSE_GETATTR:
    return answer_attributes(node);
  case FUSE_SETATTR:
    return change(node, body);
  case FUSE_READLINK:
    memcpy(put(strlen(node->target)), node->target, strlen(node->target));
    return 0;
  case FUSE_SYMLINK:
    make(node, name, S_IFLNK | 0777, in)->target = must(strdup(name + strlen(name) + 1));
    return 0;
  case FUSE_MKNOD: {
    const struct fuse_mknod_in *what = body;
    make(node, (const char *)(what + 1), what->mode & ~what->umask, in);
    return 0;
  }
  case FUSE_MKDIR: {
    const struct fuse_mkdir_in *what = body;
    make(node, (const char *)(what + 1), S_IFDIR | (what->mode & ~what->umask & 07777), in);
    return 0;
  }
  case FUSE_CREATE: {
    const struct fuse_create_in *what = body;
    make(node, (const char *)(what + 1), S_IFREG | (what->mode & ~what->umask & 07777), in);
    put(sizeof(struct fuse_open_out));
    return 0;
  }
  case FUSE_LINK: {
    struct node *linked = node_of(((const struct fuse_link_in *)body)->oldnodeid);
    linked->attr.nlink++;
    add(node, name + sizeof(struct fuse_link_in), linked);
    put_entry(linked);
    return 0;
  }
  case FUSE_UNLINK:
  case FUSE_RMDIR:
    return remove_name(node, name);
  case FUSE_RENAME: {
    const struct fuse_rename_in *what = body;
    name = (const char *)(what + 1);
    return rename_node(node, name, node_of(what->newdir), name + strlen(name) + 1, 0);
  }
  case FUSE_RENAME2: {
    const struct fuse_rename2_in *what = body;
    name = (const char *)(what + 1);
    return rename_node(node, name, node_of(what->newdir), name + strlen(name) + 1, what->flags);
  }
  case FUSE_OPEN:
    node->attr.size = ((const struct fuse_open_in *)body)->flags & O_TRUNC ? 0 : node->attr.size;
    put(sizeof(struct fuse_open_out));
    return 0;
  case FUSE_READ: {
    const struct fuse_read_in *what = body;
    uint64_t left = what->offset < node->attr.size ? node->attr.size - what->offset : 0;
    put(left < what->size ? left : what->size);
    return 0;
  }
  case FUSE_WRITE: {
    const struct fuse_write_in *what = body;
    uint64_t end = what->offset + what->size;
    node->attr.size = end > node->attr.size ? end : node->attr.size;
    node->attr.blocks = (node->attr.size + 511) / 512;
    ((struct fuse_write_out *)put(sizeof(struct fuse_write_out)))->size = what->size;
    return 0;
  }
  case FUSE_READDIR:
  case FUSE_READDIRPLUS:
    return list(node, body, in->opcode == FUSE_READDIRPLUS);
  case FUSE_STATFS:
    return answer_space();
  case FUSE_FLUSH:
    return no_flush ? ENOSYS : 0;
  case FUSE_GETXATTR:
    name += sizeof(struct fuse_getxattr_in);
    return no_xattr ? ENOSYS : strcmp(name, "security.selinux") ? ENODATA : EOPNOTSUPP;
  case FUSE_LISTXATTR:
    put(((const struct fuse_getxattr_in *)body)->size ? 0 : sizeof(struct fuse_getxattr_out));
    return no_xattr ? ENOSYS : 0;
  case FUSE_RELEASE:
  case FUSE_RELEASEDIR:
  case FUSE_FSYNC:
  case FUSE_FSYNCDIR:
  case FUSE_SYNCFS:
  case FUSE_DESTROY:
    return 0;
  default: /* also OPENDIR: the kernel asks no more */
    return ENOSYS;
  }
}

static void forget(const struct fuse_in_header *in) {
  if (in->opcode == FUSE_FORGET) {
    release(node_of(in->nodeid), ((const struct fuse_forget_in *)(in + 1))->nlookup);
    return;
  }
  const struct fuse_batch_forget_in *batch = (const void *)(in + 1);
  const struct fuse_forget_one *one = (const void *)(batch + 1);
  for (uint32_t number = 0; number < batch->count; number++) {
    release(node_of(one[number].nodeid), one[number].nlookup);
  }
}

static void serve_all(void) {
  const struct fuse_in_header *in = (const void *)request;
  struct fuse_out_header *out = (void *)reply;
  while (true) {
    ssize_t length = read(device, request, sizeof request);
    if (length < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) {
      continue;
    }
    if (length < (ssize_t)sizeof *in) {
      return; /* unmounted */
    }
    served++;
    if (in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET) {
      forget(in);
      continue;
    }
    if (in->opcode == FUSE_INTERRUPT) {
      continue;
    }
    filled = 0;
    int error = serve(in);
    *out = (struct fuse_out_header){
        .len = sizeof *out + (error ? 0 : filled), .error = -error, .unique = in->unique};
    if (write(device, reply, out->len) < 0 && errno == ENODEV) {
      return;
    }
  }
}

int main(int count, char **words) {
  char options[128];
  if (count < 2) {
    fprintf(stderr, "usage: null-fs DIR [noflush] [noxattr]\n");
    return EX_USAGE;
  }
  for (int word = 2; word < count; word++) {
    no_flush |= !strcmp(words[word], "noflush");
    no_xattr |= !strcmp(words[word], "noxattr");
  }
  root.attr = (struct fuse_attr){.ino = FUSE_ROOT_ID, .mode = S_IFDIR | 0755, .nlink = 2, .blksize = 4096, .mtime = time(NULL)};
  device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,default_permissions,allow_other", device);
  if (device < 0 || mount("null", words[1], "fuse", MS_NOSUID | MS_NODEV, options)) {
    perror("null-fs");
    return EX_OSERR;
  }
  if (daemon(0, 0)) {
    perror("null-fs");
    return EX_OSERR;
  }
  keep_awake();
  serve_all();
  return 0;
}
