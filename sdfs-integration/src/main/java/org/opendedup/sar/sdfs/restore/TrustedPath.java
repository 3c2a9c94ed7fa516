package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;

/**
 * Opens a folder by the path that a user gave, one name after the other, each in the folder that was opened before it. A symbolic link
 * on the way is followed if it belongs to root or to the user who writes: one of somebody else could lead anywhere, and be changed
 * between two looks. A FUSE file system that somebody else has mounted is not entered at all: its server says whose a link is.
 */
final class TrustedPath {
    private static final int ROOT = 0;
    private static final int NONE = -1;
    private static final int MAX_LINKS = 40;
    private static final int MAX_TARGET_BYTES = 4096;
    private static final int FOLDER = PosixCalls.O_PATH | PosixCalls.O_DIRECTORY;

    private final PosixCalls posix;
    private final Path path;
    private final int user;
    private final Deque<byte[]> names = new ArrayDeque<>();
    private int links;
    /** The mount that was entered last, and may be written to. */
    private long mount = NONE;

    private TrustedPath(PosixCalls posix, Path path) {
        this.posix = posix;
        this.path = path;
        user = posix.functions().geteuid();
    }

    /**
     * Opens a folder, for names in it only.
     *
     * @param folder absolute
     */
    static Handle open(PosixCalls posix, Path folder) throws IOException {
        return new TrustedPath(posix, folder).open();
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
        Handle root = Handle.at(posix, PosixCalls.AT_FDCWD, new byte[] {'/'}, FOLDER, 0, path.toString());
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

    /** Puts the names of a path before those that are left. */
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
        if (next != null) {
            return next.verified(this::checkMount);
        }
        int errno = posix.errno();
        if (errno != PosixCalls.ENOTDIR && errno != PosixCalls.ELOOP) {
            throw posix.failure("opening", path.toString());
        }
        try (Handle link = folder.opened(name, PosixCalls.O_PATH, path.toString())) {
            FileStatus status = link.status();
            if (!status.isSymbolicLink()) {
                throw new IOException(path + " leads through " + text(name) + ", which is no folder");
            }
            if (status.uid() != ROOT && status.uid() != user) {
                throw new IOException(path + " leads through " + text(name) + ", a symbolic link of user "
                        + status.uid() + "; a restore does not follow it: name the folder itself");
            }
            return follow(folder, link);
        }
    }

    private static String text(byte[] name) {
        return new String(name, StandardCharsets.UTF_8);
    }

    /** The folder from which the names of a link's target lead on. */
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
