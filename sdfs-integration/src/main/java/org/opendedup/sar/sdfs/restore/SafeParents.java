package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Makes sure that nobody but the writing user and root can put something else where a restore writes: it names what it makes by
 * whole paths. As sshd's StrictModes does for a user's keys.
 */
final class SafeParents {
    private static final int ROOT = 0;
    private static final int WRITABLE_BY_OTHERS = 022;
    private static final int STICKY = 01000;

    private final int user;

    /** @param user number of the user who writes */
    SafeParents(int user) {
        this.user = user;
    }

    /**
     * Checks a destination, and all folders above it.
     *
     * @param target absolute; need not exist
     * @throws IOException if somebody else owns one of them, or may rename what is in it, or one is a link; names it
     */
    void check(Path target) throws IOException {
        if (Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS) && attribute(target, "uid") != user) {
            throw new IOException(target + " is not of user " + user + ", who is to write there");
        }
        Path parent = target.getParent();
        if (parent == null) {
            return;
        }
        Path real = parent.toRealPath();
        if (!real.equals(parent)) {
            throw new IOException(
                    target + " is reached by a symbolic link; name it " + real.resolve(target.getFileName()));
        }
        for (@Nullable Path folder = real; folder != null; folder = folder.getParent()) {
            checkFolder(folder);
        }
    }

    private void checkFolder(Path folder) throws IOException {
        int owner = attribute(folder, "uid");
        int mode = attribute(folder, "mode");
        boolean isOpen = (mode & WRITABLE_BY_OTHERS) != 0 && (mode & STICKY) == 0;
        if (isOpen || owner != user && owner != ROOT) {
            throw new IOException("others than user " + user + " and root can replace what is in " + folder
                    + "; a restore does not write there");
        }
    }

    private static int attribute(Path path, String name) throws IOException {
        return (int) Files.getAttribute(path, "unix:" + name, LinkOption.NOFOLLOW_LINKS);
    }
}
