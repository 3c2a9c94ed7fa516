package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The folders through which the kernel goes on its way to a path, that of each symbolic link on it included. A folder is known by
 * device and inode number: so it is the same by whichever link or bind mount one comes to it. What is mounted over one of these
 * folders hides what the path leads to.
 */
final class PathWalk {
    /** The kernel follows no more on the way to a file. */
    private static final int LINKS_MAX = 40;

    private final Set<Object> folders = new HashSet<>();
    private int links;

    private PathWalk() {}

    /** As far as there is something. */
    static PathWalk to(Path path) throws IOException {
        var walk = new PathWalk();
        walk.go(path.toAbsolutePath());
        return walk;
    }

    /** Whether it goes through that folder, or ends there. */
    boolean meets(Path folder) {
        Object key = key(folder);
        return key != null && folders.contains(key);
    }

    private void go(Path path) throws IOException {
        Path at = path.getRoot();
        note(at);
        for (Path name : path) {
            Path folder = at;
            at = folder.resolve(name);
            if (Files.isSymbolicLink(at) && ++links <= LINKS_MAX) {
                go(folder.toRealPath().resolve(Files.readSymbolicLink(at)));
            }
            if (!note(at)) {
                return;
            }
        }
    }

    private boolean note(Path folder) {
        Object key = key(folder);
        if (key == null) {
            return false;
        }
        folders.add(key);
        return true;
    }

    /** Null if there is nothing, or it cannot be looked at. */
    private static @Nullable Object key(Path folder) {
        try {
            return Files.readAttributes(folder, BasicFileAttributes.class).fileKey();
        } catch (IOException e) {
            return null;
        }
    }
}
