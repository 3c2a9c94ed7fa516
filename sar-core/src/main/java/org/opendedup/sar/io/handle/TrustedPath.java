package org.opendedup.sar.io.handle;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.io.Libc;

/**
 * Opens a folder by the path that a user gave, one name after the other, each in the folder opened before it. Follows a
 * symbolic link only if it belongs to root or to the user who writes: a link of another user could lead anywhere, and
 * could change between check and use. Never enters a FUSE file system that another user has mounted, because its server
 * decides which owner a link shows.
 */
public final class TrustedPath {
    private static final int ROOT = 0;
    private static final int NONE = -1;
    private static final int MAX_LINKS = 40;
    private static final int MAX_TARGET_BYTES = 4096;
    private static final int FOLDER = Libc.O_PATH | Libc.O_DIRECTORY;

    private final Libc posix;
    private final Path path;
    private final int user;
    /** Whether folders that are missing are made. */
    private final boolean makes;

    private final Deque<byte[]> names = new ArrayDeque<>();
    private int links;
    /** Number of the mount that was entered last and passed the check. */
    private long mount = NONE;

    private TrustedPath(Libc posix, Path path, boolean makes) {
        this.posix = posix;
        this.path = path;
        this.makes = makes;
        user = posix.functions().geteuid();
    }

    /**
     * Opens a folder, only for names in it.
     *
     * @param folder absolute path
     */
    public static Handle open(Libc posix, Path folder) throws IOException {
        return new TrustedPath(posix, folder, false).open();
    }

    /** As {@link #open}; makes the folders that are missing, into which only this user can go. */
    public static Handle make(Libc posix, Path folder) throws IOException {
        return new TrustedPath(posix, folder, true).open();
    }

    private Handle open() throws IOException {
        push(path.toString().getBytes(StandardCharsets.UTF_8));
        Handle at = root();
        try {
            while (!names.isEmpty()) {
                Handle next = step(at, names.pop());
                at.close();
                at = next;
            }
            return at;
        } catch (IOException | RuntimeException e) {
            at.close();
            throw e;
        }
    }

    private Handle root() throws IOException {
        Handle root = Handle.at(posix, Libc.AT_FDCWD, new byte[] {'/'}, FOLDER, 0, path.toString());
        if (root == null) {
            throw posix.failure("opening", "/");
        }
        return root.verified(this::checkMount);
    }

    private void checkMount(Handle folder) throws IOException {
        long entered = Mounts.id(folder);
        if (entered != mount) {
            Mounts.checkTrusted(folder, user);
            mount = entered;
        }
    }

    /** Puts the names of a path ahead of those that are left. */
    private void push(byte[] target) {
        int end = target.length;
        for (int at = end - 1; at >= -1; at--) {
            if (at < 0 || target[at] == '/') {
                if (end > at + 1) {
                    names.push(Arrays.copyOfRange(target, at + 1, end));
                }
                end = at;
            }
        }
    }

    private Handle step(Handle folder, byte[] name) throws IOException {
        Handle next = folder.at(name, FOLDER, 0, path.toString());
        if (next == null && makes && Libc.errno() == Errno.ENOENT) {
            posix.functions().mkdirat(folder.fd(), Libc.terminated(name), 0700);
            next = folder.at(name, FOLDER, 0, path.toString());
        }
        if (next != null) {
            return next.verified(this::checkMount);
        }
        int errno = Libc.errno();
        if (errno != Errno.ENOTDIR && errno != Errno.ELOOP) {
            throw posix.failure("opening", path.toString());
        }
        try (Handle link = folder.opened(name, Libc.O_PATH, path.toString())) {
            FileStatus status = link.status();
            if (!status.isSymbolicLink()) {
                throw new IOException(path + " leads through " + text(name) + ", which is no folder");
            }
            if (status.uid() != ROOT && status.uid() != user) {
                throw new IOException(path + " leads through " + text(name) + ", a symbolic link of user "
                        + status.uid() + "; it is not followed: name the folder itself");
            }
            return follow(folder, link);
        }
    }

    private static String text(byte[] name) {
        return new String(name, StandardCharsets.UTF_8);
    }

    /** Returns the folder in which the names of a link's target start. */
    private Handle follow(Handle folder, Handle link) throws IOException {
        if (++links > MAX_LINKS) {
            throw new IOException(path + " leads through more than " + MAX_LINKS + " symbolic links");
        }
        byte[] target = target(link);
        push(target);
        return target.length > 0 && target[0] == '/'
                ? root()
                : folder.opened(new byte[] {'.'}, FOLDER, path.toString());
    }

    private byte[] target(Handle link) throws IOException {
        byte[] target = new byte[MAX_TARGET_BYTES];
        long length = posix.functions().readlinkat(link.fd(), new byte[1], target, target.length);
        if (length < 0) {
            throw posix.failure("reading the symbolic link", path.toString());
        }
        return Arrays.copyOf(target, (int) length);
    }
}
