package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The folders that the kernel passes through to resolve a path, including those on the way of each symbolic link. A
 * folder is identified by device and inode number, so it is the same folder through any link or bind mount. A mount
 * over one of these folders hides what the path leads to.
 */
public final class PathWalk {
    /** Symbolic links that the kernel follows on the way to a file, at most. */
    private static final int LINKS_MAX = 40;

    private final Set<Object> folders = new HashSet<>();
    private int links;

    private PathWalk() {}

    /** Follows a path up to its last existing component. */
    public static PathWalk to(Path path) throws IOException {
        var walk = new PathWalk();
        walk.go(path.toAbsolutePath());
        return walk;
    }

    /** Returns whether the path passes through that folder, or ends there. */
    public boolean meets(Path folder) {
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

    /** Returns the folder's identity; null if it does not exist or cannot be examined. */
    private static @Nullable Object key(Path folder) {
        try {
            return Files.readAttributes(folder, BasicFileAttributes.class).fileKey();
        } catch (IOException e) {
            return null;
        }
    }
}
