package org.opendedup.sar.io.handle;

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
import java.util.regex.Pattern;

/** The mount table of this process, read from {@code /proc/self/mountinfo}; see proc(5). */
public final class MountTable {
    private static final Path FILE = Path.of("/proc/self/mountinfo");

    /** Ends the optional fields of a line, which begin at {@link #OPTIONAL_FIELDS_AT}. */
    private static final String SEPARATOR = "-";

    private static final int OPTIONAL_FIELDS_AT = 6;

    /**
     * One mount.
     *
     * @param id mount ID, as in {@code /proc/PID/fdinfo}
     * @param device major and minor number, such as {@code 0:42}
     * @param mountPoint path as text. In a name that is not UTF-8, U+FFFD replaces what cannot be decoded; no volume is
     *     mounted at such a path
     * @param options options of the mount and of the file system, such as {@code ro} and {@code nosuid}
     * @param type file system type, such as {@code fuse.sdfs}
     */
    public record Entry(long id, String device, String mountPoint, Set<String> options, String type) {}

    /** An id that the kernel may give: a line that begins with something else is none of its lines. */
    private static final Pattern ID = Pattern.compile("[0-9]{1,18}");

    private static final Pattern ESCAPE = Pattern.compile("\\\\[0-3][0-7]{2}");

    private final List<Entry> entries;

    private MountTable(List<Entry> entries) {
        this.entries = entries;
    }

    public static MountTable read() throws IOException {
        return of(Files.readAllBytes(FILE));
    }

    /**
     * @param table content of the file, as bytes: any user may have mounted a file system under a name that is not text
     */
    public static MountTable of(byte[] table) {
        // One character per byte: this loses nothing, and the separators of the fields are ASCII.
        String[] lines = new String(table, StandardCharsets.ISO_8859_1).split("\n");
        return new MountTable(
                Arrays.stream(lines).flatMap(line -> entry(line).stream()).toList());
    }

    private static Optional<Entry> entry(String line) {
        List<String> fields = Arrays.asList(line.split(" "));
        // Uses the first separator, not the last: the device after it may have the same name.
        int separator = OPTIONAL_FIELDS_AT;
        while (separator < fields.size() && !fields.get(separator).equals(SEPARATOR)) {
            separator++;
        }
        if (separator + 3 >= fields.size() || !ID.matcher(fields.get(0)).matches()) {
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

    /**
     * Returns the device number of a path, in the format of {@link Entry#device}. Splits the number as makedev(3)
     * composes it.
     */
    public static String device(Path path) throws IOException {
        long number = (long) Files.getAttribute(path, "unix:dev");
        long major = number >>> 8 & 0xfff | number >>> 32 & ~0xfffL;
        long minor = number & 0xff | number >>> 12 & ~0xffL & 0xffffffffL;
        return major + ":" + minor;
    }

    /**
     * Returns the mount at a path. If there are several, returns the last one, which hides the others. Includes a mount
     * whose daemon is dead.
     */
    public Optional<Entry> top(Path mountPoint) {
        return entries.stream()
                .filter(entry -> entry.mountPoint().equals(mountPoint.toString()))
                .reduce((first, second) -> second);
    }

    /** Returns the mount with this ID. */
    public Optional<Entry> withId(long id) {
        return entries.stream().filter(entry -> entry.id() == id).findFirst();
    }

    /** Returns whether this mount still exists, at the same mount point or at another. */
    public boolean contains(Entry mount) {
        return entries.stream()
                .anyMatch(entry -> entry.id() == mount.id() && entry.device().equals(mount.device()));
    }

    /** Returns whether a file system is mounted anywhere, by its device number. */
    public boolean hasDevice(String device) {
        return entries.stream().anyMatch(entry -> entry.device().equals(device));
    }

    /** Encodes text as a field with one character per byte, which {@link #text} decodes. */
    public static String field(String text) {
        var field = new StringBuilder();
        for (byte next : text.getBytes(StandardCharsets.UTF_8)) {
            int character = next & 0xff;
            field.append(
                    " \t\n\\".indexOf(character) < 0
                            ? String.valueOf((char) character)
                            : String.format("\\%03o", character));
        }
        return field.toString();
    }

    /**
     * Decodes a field to text. The kernel writes space, tab, newline and backslash as a backslash and three octal
     * digits; a backslash before anything else stays.
     */
    private static String text(String field) {
        var bytes = new ByteArrayOutputStream(field.length());
        for (int at = 0; at < field.length(); at++) {
            if (ESCAPE.matcher(field).region(at, field.length()).lookingAt()) {
                bytes.write(Integer.parseInt(field.substring(at + 1, at + 4), 8));
                at += 3;
            } else {
                bytes.write(field.charAt(at));
            }
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
