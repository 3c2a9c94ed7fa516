package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * A folder in which a volume keeps something: nobody but the user of this process, and root, can read, change or replace what is in
 * it. Group permissions count as everybody's: a volume is shared by its mount, never by its files.
 */
public final class PrivateFolder {
    private static final int ROOT = 0;
    private static final int WRITABLE_BY_OTHERS = 022;
    private static final int SEARCHABLE_BY_OTHERS = 011;
    private static final int ANYTHING_BY_OTHERS = 077;
    private static final int PERMISSIONS = 07777;
    private static final int STICKY = 01000;

    private final Path folder;
    private final int user;

    private PrivateFolder(Path folder, int user) {
        this.folder = folder.toAbsolutePath().normalize();
        this.user = user;
    }

    public static PrivateFolder at(Path folder) throws IOException {
        return new PrivateFolder(folder, (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    }

    /**
     * Makes sure that no other user can write in the folder, or put another in its place. It need not exist.
     *
     * @throws AccessDeniedException if one can; names the folder that lets them, and the way out
     */
    public void requireSafe() throws IOException {
        for (@Nullable Path at = folder; at != null; at = at.getParent()) {
            if (Files.exists(at, LinkOption.NOFOLLOW_LINKS)) {
                // Also the place of a symbolic link on the way, and the way it leads.
                requireSafe(at.toRealPath(), at.equals(folder));
            }
        }
    }

    private void requireSafe(Path real, boolean isItself) throws IOException {
        Deque<Path> way = new ArrayDeque<>();
        for (@Nullable Path at = real; at != null; at = at.getParent()) {
            way.addFirst(at);
        }
        for (Path at : way) {
            requireSafe(at, isItself && at.equals(real), real);
            if (!at.equals(real) && (attribute(at, "mode") & SEARCHABLE_BY_OTHERS) == 0) {
                return; // nobody else comes further
            }
        }
    }

    /** @param isItself in a sticky folder others may make files, but not replace ours: good enough on the way only */
    private void requireSafe(Path at, boolean isItself, Path through) throws IOException {
        int owner = attribute(at, "uid");
        if (owner != user && owner != ROOT) {
            throw refused(at, through, "it belongs to user " + owner, "chown it, or use the volume as that user");
        }
        int mode = attribute(at, "mode");
        if ((mode & WRITABLE_BY_OTHERS) != 0 && (isItself || (mode & STICKY) == 0)) {
            throw refused(at, through, "other users may write there", "look what lies there, then: chmod go-w " + at);
        }
    }

    private IOException refused(Path at, Path through, String why, String wayOut) {
        return new AccessDeniedException(
                at.toString(),
                null,
                why + ", and could replace what a volume keeps in " + (at.equals(through) ? "it" : folder) + "; "
                        + wayOut);
    }

    /** Whether others may do anything in the folder itself, or see what is in it. */
    public boolean isWide() throws IOException {
        return isWide(folder);
    }

    private static boolean isWide(Path path) throws IOException {
        return (attribute(path, "mode") & ANYTHING_BY_OTHERS) != 0;
    }

    /** Takes others' permissions from the folder itself; the number of those that had some, 0 or 1. */
    public int narrow() throws IOException {
        return narrow(folder);
    }

    /**
     * Takes others' permissions from the folder and all that is in it, on the same file system; the folder itself last, so that one
     * that is private shows that this came to its end.
     *
     * @return how many files and folders had some
     */
    public int narrowAll() throws IOException {
        Narrowing narrowing = new Narrowing((long) Files.getAttribute(folder, "unix:dev"));
        Files.walkFileTree(folder.toRealPath(), narrowing);
        return narrowing.narrowed;
    }

    private static int narrow(Path path) throws IOException {
        if (!isWide(path)) {
            return 0;
        }
        int mode = attribute(path, "mode") & PERMISSIONS & ~ANYTHING_BY_OTHERS;
        Files.setAttribute(path, "unix:mode", mode);
        return 1;
    }

    private static int attribute(Path path, String name) throws IOException {
        return (int) Files.getAttribute(path, "unix:" + name);
    }

    private static final class Narrowing extends SimpleFileVisitor<Path> {
        private final long device;
        private int narrowed;

        Narrowing(long device) {
            this.device = device;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) throws IOException {
            boolean isHere = (long) Files.getAttribute(directory, "unix:dev") == device;
            return isHere ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            if (attributes.isRegularFile()) {
                narrowed += narrow(file);
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) throws IOException {
            if (failure != null) {
                throw failure;
            }
            narrowed += narrow(directory);
            return FileVisitResult.CONTINUE;
        }

        /** A file may go meanwhile; and what its owner cannot enter, as another's lost+found, others cannot either. */
        @Override
        public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
            if (failure instanceof NoSuchFileException || failure instanceof AccessDeniedException) {
                return FileVisitResult.CONTINUE;
            }
            throw failure;
        }
    }
}
