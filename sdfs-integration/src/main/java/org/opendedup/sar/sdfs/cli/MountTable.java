package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** What is mounted where, by {@code /proc/self/mountinfo}; see proc(5). */
final class MountTable {
    private static final Path FILE = Path.of("/proc/self/mountinfo");

    /** Ends the optional fields of a line. */
    private static final String SEPARATOR = "-";

    /**
     * One mount.
     *
     * @param id as in {@code /proc/PID/fdinfo}
     * @param device major and minor number, as {@code 0:42}
     * @param type such as {@code fuse.sdfs}
     */
    record Entry(long id, String device, String mountPoint, String type) {}

    private final List<Entry> entries;

    private MountTable(List<Entry> entries) {
        this.entries = entries;
    }

    static MountTable read() throws IOException {
        return of(Files.readAllLines(FILE));
    }

    static MountTable of(List<String> lines) {
        return new MountTable(
                lines.stream().flatMap(line -> entry(line).stream()).toList());
    }

    private static Optional<Entry> entry(String line) {
        List<String> fields = Arrays.asList(line.split(" "));
        int separator = fields.lastIndexOf(SEPARATOR);
        return separator < 5 || separator + 1 >= fields.size()
                ? Optional.empty()
                : Optional.of(new Entry(
                        Long.parseLong(fields.get(0)),
                        fields.get(2),
                        unescape(fields.get(4)),
                        fields.get(separator + 1)));
    }

    /** Works for a mount point whose server is dead as well, which cannot be looked at. */
    boolean contains(Path path) {
        return top(path).isPresent();
    }

    /** What is seen at a mount point: of several mounts, the last. */
    Optional<Entry> top(Path mountPoint) {
        return entries.stream()
                .filter(entry -> entry.mountPoint().equals(mountPoint.toString()))
                .reduce((first, second) -> second);
    }

    /** Is this mount still there, if perhaps at another place? */
    boolean contains(Entry mount) {
        return entries.stream()
                .anyMatch(entry -> entry.id() == mount.id() && entry.device().equals(mount.device()));
    }

    /** The kernel writes space, tab, newline and backslash as a backslash and three octal digits. */
    private static String unescape(String field) {
        return field.replace("\\040", " ")
                .replace("\\011", "\t")
                .replace("\\012", "\n")
                .replace("\\134", "\\");
    }
}
