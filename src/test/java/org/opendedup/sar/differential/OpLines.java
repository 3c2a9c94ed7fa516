package org.opendedup.sar.differential;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;

/**
 * Random ops, as lines for a {@link Hand}. Paths use few names, so that ops meet; a guess of the existing objects makes
 * most of them succeed. Documented limits of a volume are omitted here if a result could not be compared: times before
 * 1901 and after 2262, files beyond 1 GiB and full disks, extended attributes of more than 4 KiB, reads that set access
 * times, fallocate that moves bytes, and reading and writing fifos.
 */
final class OpLines {
    private static final String[] NAMES = {"a", "b", "c", "d"};
    private static final int SLOTS = 5;
    private static final int MAX_DEPTH = 3;
    private static final int[] USERS = {0, 0, 1000, 1000, 1001};
    private static final String[] UMASKS = {"0", "022", "022", "077", "007"};
    private static final String[] MODES = {
        "0", "600", "644", "755", "777", "666", "4755", "2755", "6755", "2644", "6644", "6777", "1777", "2777", "3770",
        "070", "007", "440", "4711", "2711"
    };
    private static final String[] IDS = {"-1", "-1", "0", "1000", "1000", "1001", "2000"};
    private static final String[] ACCESSES = {"RDONLY", "RDWR", "RDWR", "WRONLY"};
    private static final String[] OPEN_FLAGS = {"CREAT", "CREAT", "CREAT", "TRUNC", "EXCL", "APPEND", "NOFOLLOW"};
    private static final String[] TIMES = {
        "now",
        "now",
        "omit",
        "omit",
        "0.0",
        "1000000000.5",
        "-1.999999999",
        "-2000000000.1",
        "2147483648.0",
        "4294967296.123456789",
        "9000000000.0"
    };
    private static final long[] SIZES = {0, 0, 1, 5, 100, 4095, 4096, 4097, 8192, 70_000, 131_072, 200_001};
    private static final String[] LISTS = {
        "u::6,g::4,o::0",
        "u::7,g::7,o::7",
        "u::6,u:1000:7,g::4,m::7,o::4",
        "u::7,u:1001:5,g::5,m::5,o::0",
        "u::7,u:1000:6,g::0,g:2000:7,m::6,o::1",
        "u::7,g::5,g:2000:7,m::0,o::0",
        "u::0,g::0,m::7,o::0"
    };
    private static final String[] ODD_LISTS = {
        "u::6,u:1000:7,g::4,o::4", "u::6,g::4", "", "hex:", "hex:02", "hex:03000000"
    };
    private static final String[] ATTRIBUTES = {
        "user.a",
        "user.a",
        "user.b",
        "trusted.t",
        "security.s",
        "system.posix_acl_access",
        "system.posix_acl_access",
        "system.posix_acl_default",
        "system.posix_acl_default"
    };
    private static final String[] ODD_ATTRIBUTES = {
        "user.", "other.x", "a", "system.foo", "security.", "user." + "n".repeat(251)
    };
    /** {@code cap_net_raw=ep}, in the format VFS_CAP_REVISION_2. */
    private static final String CAPABILITY = "0100000200200000000000000000000000000000";

    private final Random random;
    /** The objects that probably exist, by path. */
    private final TreeMap<String, Guess> guesses = new TreeMap<>();
    /** The user who makes the call being generated. */
    private int user;

    private enum Kind {
        FILE,
        FOLDER,
        OTHER
    }

    private record Guess(Kind kind, int owner) {}

    private OpLines(long seed) {
        random = new Random(seed);
    }

    static List<String> of(long seed, int count) {
        return new OpLines(seed).lines(count);
    }

    private List<String> lines(int count) {
        List<String> lines = new ArrayList<>();
        guesses.put(".", new Guess(Kind.FOLDER, 0));
        lines.add("0 022 chown . -1 " + pick("0", "1000", "1001", "2000"));
        lines.add("0 022 chmod . " + pick("755", "777", "777", "2777", "2777", "3777", "1777"));
        while (lines.size() < count) {
            user = pick(USERS);
            // Most calls need existing objects.
            String op = lines.size() < 12 || random.nextInt(3) == 0 ? making() : other();
            lines.add(user + " " + pick(UMASKS) + " " + op);
        }
        return lines;
    }

    /** A path that probably exists after this. */
    private String made(Kind kind) {
        String path = anyOrNew();
        guesses.putIfAbsent(path, new Guess(kind, user));
        return path;
    }

    private String making() {
        return switch (random.nextInt(13)) {
            case 0, 1, 2 -> "mkdir " + made(Kind.FOLDER) + " " + mode();
            case 3, 4, 5, 6, 7 ->
                "open " + slot() + " " + made(Kind.FILE) + " " + pick(ACCESSES) + "|CREAT" + someFlags() + " " + mode();
            case 8, 12 -> "mknod " + made(Kind.OTHER) + " " + special();
            case 9 -> "symlink " + target() + " " + made(Kind.OTHER);
            case 10 -> "link " + any() + " " + made(Kind.FILE) + " " + follow();
            default ->
                "open " + slot() + " " + folder() + " " + pick("RDWR", "WRONLY", "RDONLY") + "|TMPFILE"
                        + pick("", "", "|EXCL") + " " + mode();
        };
    }

    private String special() {
        // 1 3 is /dev/null; no device has 240 0.
        String device = pick("S_IFCHR %s 1 3", "S_IFBLK %s 240 0");
        return pick("S_IFIFO %s 0 0", "S_IFIFO %s 0 0", "S_IFSOCK %s 0 0", "S_IFREG %s 0 0", "S_IFDIR %s 0 0", device)
                .formatted(mode());
    }

    private String target() {
        return switch (random.nextInt(5)) {
            case 0 -> any();
            case 1 -> "nowhere";
            case 2 -> ".";
            default -> pick(NAMES);
        };
    }

    private String other() {
        return switch (random.nextInt(100)) {
            case 0, 1, 2, 3 -> "open " + slot() + " " + any() + " " + pick(ACCESSES) + someFlags() + " " + mode();
            case 4 ->
                "open " + slot() + " " + any() + " "
                        + pick("RDONLY|DIRECTORY", "PATH", "PATH|NOFOLLOW", "RDONLY|NOFOLLOW") + " 0";
            case 5, 6 -> "close " + slot();
            case 7 -> "direct " + any() + " " + random.nextInt(6) + " " + pattern() + " " + (1 + random.nextInt(20));
            case 8 -> "map " + slot() + " " + size() + " " + pattern() + " " + size();
            case 9, 10 -> "write " + slot() + " " + pattern() + " " + size();
            case 11, 12, 13, 14 -> "pwrite " + slot() + " " + size() + " " + pattern() + " " + size();
            case 15 -> "read " + slot() + " " + size();
            case 16, 17 -> "pread " + slot() + " " + size() + " " + size();
            case 18 -> "lseek " + slot() + " " + pick("-1", "0", "100", "5000") + " " + random.nextInt(3);
            case 19 -> "seekdata " + slot() + " " + size();
            case 20 -> "seekhole " + slot() + " " + size();
            case 21, 22, 23, 24 -> "truncate " + any() + " " + length();
            case 25, 26, 27 -> "ftruncate " + slot() + " " + length();
            case 28, 29, 30, 31 ->
                "fallocate " + slot() + " " + pick("0", "1", "3", "3", "16", "17", "2", "64") + " "
                        + pick("-1", "" + size(), "" + size()) + " " + size();
            case 32, 33, 34 -> "copy " + slot() + " " + size() + " " + slot() + " " + size() + " " + size();
            case 35 -> "fsync " + slot();
            case 36, 37 -> "rmdir " + any();
            case 38, 39, 40 -> "unlink " + any();
            case 41, 42, 43, 44, 45 -> rename();
            case 46 -> "linkfd " + slot() + " " + anyOrNew();
            case 47, 48, 49, 50, 51 -> "chmod " + any() + " " + mode();
            case 52, 53 -> "fchmod " + slot() + " " + mode();
            case 54, 55, 56, 57, 58 -> pick("chown ", "lchown ") + any() + " " + owners();
            case 59, 60 -> "fchown " + slot() + " " + owners();
            case 61, 62, 63, 64 -> "utimes " + any() + " " + pick(TIMES) + " " + pick(TIMES) + " " + follow();
            case 65 -> "futimes " + slot() + " " + pick(TIMES) + " " + pick(TIMES);
            case 66, 67, 68, 69, 70, 71, 72, 73 ->
                "setxattr " + any() + " " + attribute() + " " + pick("0", "0", "0", "1", "2", "3") + " " + follow();
            case 74 -> "fsetxattr " + slot() + " " + attribute() + " 0";
            case 75, 76 -> "getxattr " + any() + " " + pick(ATTRIBUTES) + " " + follow();
            case 77 -> "getxattrroom " + any() + " " + pick(ATTRIBUTES) + " " + pick("0", "1", "4", "28", "100");
            case 78 -> "listxattr " + any() + " " + follow();
            case 79, 80, 81 -> "removexattr " + any() + " " + attributeName() + " " + follow();
            case 82, 83, 84 -> "access " + any() + " " + random.nextInt(8) + " " + pick("real", "effective");
            case 85 -> "stat " + any() + " " + follow();
            case 86 -> "list " + any();
            case 87 -> "readlink " + any();
            case 88, 89, 90 -> "forget";
            case 91, 92, 93 -> "setxattr " + any() + " security.capability " + CAPABILITY + " 0 follow";
            default -> making();
        };
    }

    private String rename() {
        String from = any();
        String to = anyOrNew();
        Guess guess = guesses.get(from);
        if (guess != null && !from.equals(".")) {
            guesses.putIfAbsent(to, guess);
        }
        return "rename " + from + " " + to + " " + pick("0", "0", "0", "1", "2", "4");
    }

    private String owners() {
        return random.nextInt(3) == 0 ? "-1 -1" : pick(IDS) + " " + pick(IDS);
    }

    private String attribute() {
        String name = attributeName();
        if (!name.startsWith("system.posix_acl")) {
            return name + " " + "61".repeat(pick(0, 1, 4, 40, 200));
        }
        return name + " " + (random.nextInt(5) == 0 ? pick(ODD_LISTS) : pick(LISTS));
    }

    private String attributeName() {
        return random.nextInt(12) == 0 ? pick(ODD_ATTRIBUTES) : pick(ATTRIBUTES);
    }

    private String someFlags() {
        StringBuilder flags = new StringBuilder();
        while (random.nextInt(3) == 0) {
            flags.append('|').append(pick(OPEN_FLAGS));
        }
        return flags.toString();
    }

    private String follow() {
        return pick("follow", "follow", "nofollow");
    }

    private int slot() {
        return random.nextInt(SLOTS);
    }

    private String mode() {
        return pick(MODES);
    }

    private long size() {
        return SIZES[random.nextInt(SIZES.length)];
    }

    private long length() {
        return random.nextInt(20) == 0 ? pick(-1, 1 << 30) : size();
    }

    /** One in eight is of zeros. */
    private int pattern() {
        return random.nextInt(8);
    }

    private String any() {
        return switch (random.nextInt(20)) {
            case 0 -> anyOrNew();
            case 1 -> pick("a", "b") + pick("/", "/.", "//c", "/nothere/c");
            default -> ownedAtTimes(oneOf(List.copyOf(guesses.keySet())));
        };
    }

    /** The user who made an object may do the most with it. */
    private String ownedAtTimes(String path) {
        Guess guess = guesses.get(path);
        if (guess != null && random.nextInt(3) == 0) {
            user = guess.owner;
        }
        return path;
    }

    private String folder() {
        return oneOf(guesses.keySet().stream()
                .filter(path -> guesses.get(path).kind == Kind.FOLDER)
                .toList());
    }

    private String oneOf(List<String> paths) {
        return paths.get(random.nextInt(paths.size()));
    }

    private String anyOrNew() {
        if (random.nextInt(40) == 0) {
            return "./" + pick("n".repeat(255), "n".repeat(256), "%FF%0A", "a".repeat(200));
        }
        String folder = random.nextInt(20) == 0 ? any() : folder();
        return folder.chars().filter(c -> c == '/').count() < MAX_DEPTH ? folder + "/" + pick(NAMES) : any();
    }

    @SafeVarargs
    private <T> T pick(T... choices) {
        return choices[random.nextInt(choices.length)];
    }

    private int pick(int[] choices) {
        return choices[random.nextInt(choices.length)];
    }
}
