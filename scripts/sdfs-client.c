/*
 * Has the daemon of a volume run a command of sdfscli, in place of a JVM that would only ask that daemon. Called by scripts/sdfscli
 * with the arguments of sdfscli; made by scripts/build, if there is a C compiler.
 *
 * It knows nothing of the commands. It finds the control socket as the commands do, sends its words there, and writes what comes
 * back: the same bytes and the same exit code, because the daemon runs the same code. Whatever else happens (not mounted, another
 * user, a command that the daemon does not run for others, no answer within two seconds), it writes nothing and exits with 125;
 * the script then runs the command in a JVM, which says what is wrong.
 *
 * Request and reply are those of the control socket (ControlServer), one line of JSON each:
 *   {"version":1,"command":"run","arguments":{"words":["pool0","status"],"configFolder":"/etc/sdfs","runFolder":""}}
 *   {"version":1,"ok":true,"result":{"code":0,"out":"pool0: well\n...","err":""}}
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { NOT_RUN = 125, FAILED = 1, FILE_MAX = 1 << 16, REQUEST_MAX = 1 << 13, REPLY_MAX = 1 << 24, WAIT_SECONDS = 2 };

static const char REPLY[] = "{\"version\":1,\"ok\":true,\"result\":{\"code\":";

/* Is a text its own JSON string, without any escape? */
static int is_plain(const char *text) {
  for (; *text; text++)
    if (*text < 0x20 || *text > 0x7e || *text == '"' || *text == '\\') return 0;
  return 1;
}

static const char *variable(const char *name, const char *otherwise) {
  const char *value = getenv(name);
  return value && *value ? value : otherwise;
}

/* Copies the base path out of a volume file; fails if it is not written as mkfs.sdfs writes it. A wrong path does no harm: the
 * daemon that listens there reads the volume file itself. */
static int read_base_path(const char *config, const char *volume, char *base, size_t size) {
  static char text[FILE_MAX];
  char path[4096];
  snprintf(path, sizeof path, "%s/%s-volume-cfg.xml", config, volume);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = 0;
  static const char attribute[] = " base-path=\"";
  char *element = strstr(text, "<locations ");
  char *value = element ? strstr(element, attribute) : NULL;
  char *close_tag = element ? strchr(element, '>') : NULL;
  if (!value || !close_tag || value > close_tag) return 0;
  value += sizeof attribute - 1;
  char *end = strchr(value, '"');
  if (!end || (size_t)(end - value) >= size || memchr(value, '&', (size_t)(end - value))) return 0;
  memcpy(base, value, (size_t)(end - value));
  base[end - value] = 0;
  return 1;
}

/* Connects to the daemon of this user. */
static int connect_to_daemon(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return -1;
  strcpy(address.sun_path, path);
  int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct timeval limit = {.tv_sec = WAIT_SECONDS};
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (connection < 0 || setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) ||
      setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) ||
      connect(connection, (struct sockaddr *)&address, sizeof address) ||
      getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) || peer.uid != geteuid())
    return -1;
  return connection;
}

/* Reads the reply up to its line feed; NULL if there is none. */
static char *read_reply(int connection) {
  size_t length = 0, size = 1 << 16;
  char *reply = malloc(size);
  while (reply) {
    ssize_t got = read(connection, reply + length, size - length - 1);
    if (got <= 0) return NULL;
    length += (size_t)got;
    if (reply[length - 1] == '\n') {
      reply[length] = 0;
      return strlen(reply) == length ? reply : NULL;
    }
    if (length + 1 == size) {
      size *= 2;
      reply = size > REPLY_MAX ? NULL : realloc(reply, size);
    }
  }
  return NULL;
}

static int hexadecimal(const char *digits) {
  int value = 0;
  for (int i = 0; i < 4; i++) {
    if (!isxdigit((unsigned char)digits[i])) return -1;
    value = value * 16 + (isdigit((unsigned char)digits[i]) ? digits[i] - '0' : (digits[i] | 0x20) - 'a' + 10);
  }
  return value;
}

/* Writes a character as UTF-8; returns the place after it. */
static char *encode(int code, char *to) {
  if (code < 0x80) {
    *to++ = (char)code;
    return to;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const int first[] = {0, 0xc0, 0xe0, 0xf0};
  *to++ = (char)(first[more] | code >> 6 * more);
  while (more--) *to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
  return to;
}

/* Decodes a JSON string in its place, from after its first quote; returns what follows it, NULL if it is none. */
static char *decode(char *text, size_t *length) {
  static const char escaped[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  char *to = text, *from = text;
  while (*from && *from != '"') {
    if (*from != '\\') {
      *to++ = *from++;
      continue;
    }
    const char *found = from[1] ? strchr(escaped, from[1]) : NULL;
    if (found) {
      *to++ = meant[found - escaped];
      from += 2;
    } else {
      int code = from[1] == 'u' ? hexadecimal(from + 2) : -1;
      if (code < 0) return NULL;
      from += 6;
      if (code >= 0xd800 && code < 0xdc00) { /* The first of two. */
        int low = from[0] == '\\' && from[1] == 'u' ? hexadecimal(from + 2) : -1;
        if (low < 0xdc00 || low >= 0xe000) return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        from += 6;
      }
      to = encode(code, to);
    }
  }
  *length = (size_t)(to - text);
  return *from ? from + 1 : NULL;
}

static int write_all(int file, const char *text, size_t length) {
  while (length) {
    ssize_t written = write(file, text, length);
    if (written < 0) return 0;
    text += written;
    length -= (size_t)written;
  }
  return 1;
}

static char *after(char *text, const char *expected) {
  return text && !strncmp(text, expected, strlen(expected)) ? text + strlen(expected) : NULL;
}

int main(int argc, char **argv) {
  const char *config = variable("SDFS_CONFIG_DIR", "/etc/sdfs");
  const char *run = variable("SDFS_RUN_DIR", "");
  const char *volume = NULL;
  static char request[REQUEST_MAX];
  size_t length = (size_t)snprintf(request, sizeof request, "{\"version\":1,\"command\":\"run\",\"arguments\":{\"words\":[");
  for (int i = 1; i < argc; i++) {
    if (!volume && argv[i][0] != '-') volume = argv[i];
    if (!is_plain(argv[i])) return NOT_RUN;
    length += (size_t)snprintf(request + length, sizeof request - length, "%s\"%s\"", i == 1 ? "" : ",", argv[i]);
    if (length >= sizeof request) return NOT_RUN;
  }
  if (!volume || strchr(volume, '/') || *config != '/' || (*run && *run != '/') || !is_plain(config) || !is_plain(run))
    return NOT_RUN;
  length += (size_t)snprintf(request + length, sizeof request - length, "],\"configFolder\":\"%s\",\"runFolder\":\"%s\"}}\n",
                             config, run);
  char base[4096], path[8192];
  if (length >= sizeof request || (!*run && !read_base_path(config, volume, base, sizeof base))) return NOT_RUN;
  snprintf(path, sizeof path, "%s%s/%s.sock", *run ? run : base, *run ? "" : "/run", volume);

  signal(SIGPIPE, SIG_IGN);
  int connection = connect_to_daemon(path);
  if (connection < 0 || !write_all(connection, request, length)) return NOT_RUN;
  char *rest = after(read_reply(connection), REPLY);
  if (!rest) return NOT_RUN;
  long code = strtol(rest, &rest, 10);
  size_t out_length = 0, err_length = 0;
  char *out = after(rest, ",\"out\":\"");
  char *err = after(out ? decode(out, &out_length) : NULL, ",\"err\":\"");
  if (!after(err ? decode(err, &err_length) : NULL, "}}\n") || code < 0 || code >= NOT_RUN) return NOT_RUN;

  int written = write_all(STDOUT_FILENO, out, out_length);
  write_all(STDERR_FILENO, err, err_length);
  if (!written) {
    static const char words[] = "sdfscli: the output could not be written; its device may be full, or its reader may have ended\n";
    write_all(STDERR_FILENO, words, sizeof words - 1);
  }
  return written || code ? (int)code : FAILED;
}
