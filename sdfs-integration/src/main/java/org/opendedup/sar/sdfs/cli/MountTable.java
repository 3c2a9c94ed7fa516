package org.opendedup.sar.sdfs.cli;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What is mounted where, by {@code /proc/self/mountinfo}; see proc(5). */
final class MountTable {
    private static final Path FILE = Path.of("/proc/self/mountinfo");

    /** Ends the optional fields of a line, which begin at this one. */
    private static final String SEPARATOR = "-";

    private static final int OPTIONAL_FIELDS_AT = 6;

    /**
     * One mount.
     *
     * @param id as in {@code /proc/PID/fdinfo}
     * @param device major and minor number, as {@code 0:42}
     * @param mountPoint as text. In a name that is not UTF-8, {@link PlainNames#UNREADABLE} stands for what cannot be read; no volume is
     *     mounted at such a place
     * @param options such as {@code ro} and {@code nosuid}, of the mount and of the file system
     * @param type such as {@code fuse.sdfs}
     */
    record Entry(long id, String device, String mountPoint, Set<String> options, String type) {}

    private final List<Entry> entries;

    private MountTable(List<Entry> entries) {
        this.entries = entries;
    }

    static MountTable read() throws IOException {
        return of(Files.readAllBytes(FILE));
    }

    /** @param table bytes: any user may have mounted something under a name that is not text */
    static MountTable of(byte[] table) {
        // One character for each byte: nothing is lost, and what separates the fields is ASCII.
        String[] lines = new String(table, StandardCharsets.ISO_8859_1).split("\n");
        return new MountTable(
                Arrays.stream(lines).flatMap(line -> entry(line).stream()).toList());
    }

    private static Optional<Entry> entry(String line) {
        List<String> fields = Arrays.asList(line.split(" "));
        // Not the last one: the device behind it may be called so.
        int separator = OPTIONAL_FIELDS_AT;
        while (separator < fields.size() && !fields.get(separator).equals(SEPARATOR)) {
            separator++;
        }
        if (separator + 3 >= fields.size()) {
            return Optional.empty();
        }
        Set<String> options = new HashSet<>(Arrays.asList(fields.get(5).split(",")));
        options.addAll(Arrays.asList(fields.get(separator + 3).split(",")));
        return Optional.of(new Entry(
                Long.parseLong(fields.get(0)),
                fields.get(2),
                text(fields.get(4)),
                Set.copyOf(options),
                text(fields.get(separator + 1))));
    }

    /** The device of what a path leads to, as an entry has it. Its number is made of both as in makedev(3). */
    static String device(Path path) throws IOException {
        long number = (long) Files.getAttribute(path, "unix:dev");
        long major = number >>> 8 & 0xfff | number >>> 32 & ~0xfffL;
        long minor = number & 0xff | number >>> 12 & ~0xffL & 0xffffffffL;
        return major + ":" + minor;
    }

    /** What is mounted at a path; of several mounts the last, which hides the others. Also one whose daemon is dead. */
    Optional<Entry> top(Path mountPoint) {
        return entries.stream()
                .filter(entry -> entry.mountPoint().equals(mountPoint.toString()))
                .reduce((first, second) -> second);
    }

    /** Whether this mount is still there, at the same place or at another. */
    boolean contains(Entry mount) {
        return entries.stream()
                .anyMatch(entry -> entry.id() == mount.id() && entry.device().equals(mount.device()));
    }

    /** A field as text. The kernel writes space, tab, newline and backslash as a backslash and three octal digits. */
    private static String text(String field) {
        var bytes = new ByteArrayOutputStream(field.length());
        for (int at = 0; at < field.length(); at++) {
            if (field.charAt(at) == '\\' && at + 3 < field.length()) {
                bytes.write(Integer.parseInt(field.substring(at + 1, at + 4), 8));
                at += 3;
            } else {
                bytes.write(field.charAt(at));
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
