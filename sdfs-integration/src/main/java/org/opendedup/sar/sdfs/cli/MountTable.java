package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Where something is mounted, by {@code /proc/self/mountinfo}. */
final class MountTable {
    private static final Path FILE = Path.of("/proc/self/mountinfo");
    private static final int MOUNT_POINT_FIELD = 4;

    private final Set<String> mountPoints;

    private MountTable(Set<String> mountPoints) {
        this.mountPoints = mountPoints;
    }

    static MountTable read() throws IOException {
        return of(Files.readAllLines(FILE));
    }

    static MountTable of(List<String> lines) {
        return new MountTable(lines.stream()
                .map(line -> line.split(" "))
                .filter(fields -> fields.length > MOUNT_POINT_FIELD)
                .map(fields -> unescape(fields[MOUNT_POINT_FIELD]))
                .collect(Collectors.toSet()));
    }

    /** Works for a mount point whose server is dead as well, which cannot be looked at. */
    boolean contains(Path path) {
        return mountPoints.contains(path.toString());
    }

    /** The kernel writes space, tab, newline and backslash as a backslash and three octal digits. */
    private static String unescape(String field) {
        return field.replace("\\040", " ")
                .replace("\\011", "\t")
                .replace("\\012", "\n")
                .replace("\\134", "\\");
    }
}
