package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder in which a volume keeps data: only the user of this process, and root, can read, change or replace its
 * contents. Group permissions count as everybody's: a volume is shared by its mount, never by its files.
 */
public final class PrivateFolder {
    private static final Logger log = LoggerFactory.getLogger(PrivateFolder.class);

    /** Maximum number of symbolic links that the kernel follows in a path. */
    private static final int LINKS_MAX = 40;

    private static final int ROOT = 0;
    private static final int WRITABLE_BY_OTHERS = 022;
    private static final int SEARCHABLE_BY_OTHERS = 011;
    private static final int ANYTHING_BY_OTHERS = 077;
    private static final int PERMISSIONS = 07777;
    private static final int STICKY = 01000;

    private final Path folder;
    private final int user;

    PrivateFolder(Path folder, int user) {
        this.folder = folder.toAbsolutePath();
        this.user = user;
    }

    public static PrivateFolder at(Path folder) throws IOException {
        return new PrivateFolder(folder, (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
    }

    /**
     * Checks that no other user can write in the folder, or put another folder in its place. The folder need not exist,
     * and may be a file. Resolves the path as the kernel does, name by name, and also checks each folder that a
     * symbolic link leads through.
     *
     * @throws AccessDeniedException if another user can; names the folder that allows it, and how to correct it
     */
    public void requireSafe() throws IOException {
        Deque<Path> left = new ArrayDeque<>();
        folder.forEach(left::addLast);
        Path at = folder.getRoot();
        int links = 0;
        while (!left.isEmpty()) {
            requireSafe(at, false);
            Path name = left.removeFirst();
            Path next = at.resolve(name).normalize();
            if (Files.isSymbolicLink(next)) {
                if (++links > LINKS_MAX) {
                    throw new FileSystemLoopException(folder.toString());
                }
                requireKeptInPlace(next, at);
                Path target = Files.readSymbolicLink(next);
                at = target.isAbsolute() ? target.getRoot() : at;
                List<Path> names = new ArrayList<>();
                target.forEach(names::add);
                Collections.reverse(names);
                names.forEach(left::addFirst);
            } else if (Files.exists(next, LinkOption.NOFOLLOW_LINKS)) {
                at = next;
            } else {
                return;
            }
        }
        requireSafe(at, true);
    }

    /**
     * Checks one folder of the path; its own path has no symbolic link.
     *
     * @param isItself whether this is the folder itself, not one on its path. In a sticky folder others may make files,
     *     but not replace ours: that is sufficient on the path only
     */
    private void requireSafe(Path at, boolean isItself) throws IOException {
        if (isHidden(at)) {
            return;
        }
        requireOwned(at, isItself);
        if (isWritable(at) && (isItself || !isSticky(at))) {
            throw refused(at, isItself, "other users may write there", "look at what is there, then: chmod go-w " + at);
        }
    }

    /** Checks a symbolic link: where others may make files, the link's owner may put another in its place. */
    private void requireKeptInPlace(Path link, Path at) throws IOException {
        if (isWritable(at) && !isHidden(at)) {
            requireOwned(link, false);
        }
    }

    private void requireOwned(Path at, boolean isItself) throws IOException {
        int owner = attribute(at, "uid");
        if (owner != user && owner != ROOT) {
            throw refused(at, isItself, "it belongs to user " + owner, "chown it, or use the volume as that user");
        }
    }

    /** Returns whether no other user can reach the folder. */
    private static boolean isHidden(Path folder) throws IOException {
        for (@Nullable Path above = folder.getParent(); above != null; above = above.getParent()) {
            if ((attribute(above, "mode") & SEARCHABLE_BY_OTHERS) == 0) {
                return true;
            }
        }
        return false;
    }

    private static boolean isWritable(Path folder) throws IOException {
        return (attribute(folder, "mode") & WRITABLE_BY_OTHERS) != 0;
    }

    private static boolean isSticky(Path folder) throws IOException {
        return (attribute(folder, "mode") & STICKY) != 0;
    }

    private IOException refused(Path at, boolean isItself, String why, String wayOut) {
        return new AccessDeniedException(
                at.toString(),
                null,
                why + ", and could replace what a volume keeps in " + (isItself ? "it" : folder) + "; " + wayOut);
    }

    /**
     * Returns whether others have any permission on the folder, or may have had some when {@link #narrowAll} was
     * interrupted.
     */
    public boolean isWide() throws IOException {
        return (attribute(folder.toRealPath(), "mode") & (ANYTHING_BY_OTHERS | STICKY)) != 0;
    }

    /**
     * Removes others' permissions from the folder itself.
     *
     * @return 1 if others had permissions, else 0
     * @throws AccessDeniedException if this user may not change them because the folder belongs to another user; the
     *     message says so
     */
    public int narrow() throws IOException {
        Path top = folder.toRealPath();
        int mode = attribute(top, "mode") & PERMISSIONS;
        setTop(top, mode & ~ANYTHING_BY_OTHERS);
        return (mode & ANYTHING_BY_OTHERS) == 0 ? 0 : 1;
    }

    /**
     * Removes others' permissions from the folder, so that no other user can enter it, and then from everything in it
     * on the same file system. Until this is complete, the folder has the sticky bit, which shows that it must be done
     * again. Files of another user keep their permissions, but the folder protects them; the log says so.
     *
     * @return number of files and folders on which others had permissions
     * @throws AccessDeniedException as {@link #narrow}
     */
    public int narrowAll() throws IOException {
        return narrowAll(path -> {});
    }

    /** @param step called for each file and folder; for tests */
    int narrowAll(Step step) throws IOException {
        Path top = folder.toRealPath();
        int mode = attribute(top, "mode") & PERMISSIONS;
        Narrowing narrowing = new Narrowing(top, step);
        step.before(top);
        if ((mode & ANYTHING_BY_OTHERS) != 0) {
            setTop(top, mode & ~ANYTHING_BY_OTHERS | STICKY);
            narrowing.narrowed++;
        }
        Files.walkFileTree(top, narrowing);
        narrowing.report();
        setTop(top, mode & ~ANYTHING_BY_OTHERS & ~STICKY);
        return narrowing.narrowed;
    }

    private static void setTop(Path top, int mode) throws IOException {
        if ((attribute(top, "mode") & PERMISSIONS) == mode) {
            return;
        }
        try {
            Files.setAttribute(top, "unix:mode", mode);
        } catch (FileSystemException e) {
            String why = "other users have permissions there, which this user may not take away, as it belongs to user "
                    + attribute(top, "uid") + " (" + e.getReason() + "); chown it, or: chmod go-rwx " + top;
            throw (IOException) new AccessDeniedException(top.toString(), null, why).initCause(e);
        }
    }

    private static int attribute(Path path, String name) throws IOException {
        return (int) Files.getAttribute(path, "unix:" + name, LinkOption.NOFOLLOW_LINKS);
    }

    /** Is called for each file or folder before its permissions are changed. */
    @FunctionalInterface
    interface Step {
        void before(Path path) throws IOException;
    }

    private static final class Narrowing extends SimpleFileVisitor<Path> {
        private final Path top;
        private final Step step;
        private final long device;
        private int narrowed;
        private int left;
        private @Nullable FileSystemException firstLeft;

        Narrowing(Path top, Step step) throws IOException {
            this.top = top;
            this.step = step;
            this.device = (long) Files.getAttribute(top, "unix:dev");
        }

        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) throws IOException {
            if ((long) Files.getAttribute(directory, "unix:dev") != device) {
                return FileVisitResult.SKIP_SUBTREE;
            }
            if (!directory.equals(top)) {
                narrow(directory);
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            if (attributes.isRegularFile()) {
                narrow(file);
            }
            return FileVisitResult.CONTINUE;
        }

        private void narrow(Path path) throws IOException {
            step.before(path);
            try {
                int mode = attribute(path, "mode") & PERMISSIONS;
                if ((mode & ANYTHING_BY_OTHERS) != 0) {
                    Files.setAttribute(path, "unix:mode", mode & ~ANYTHING_BY_OTHERS);
                    narrowed++;
                }
            } catch (NoSuchFileException e) {
                // It was deleted in the meantime.
                log.debug("{} no longer exists", path, e);
            } catch (FileSystemException e) {
                left++;
                firstLeft = firstLeft == null ? e : firstLeft;
            }
        }

        void report() {
            if (firstLeft != null) {
                log.warn(
                        "other users' permissions stay for {} files and folders, such as {}; "
                                + "other users cannot reach them, because {} is private",
                        left,
                        firstLeft.getMessage(),
                        top);
            }
        }

        /**
         * Skips a file that was deleted in the meantime, and a folder that this user cannot enter, such as another
         * user's lost+found: others cannot enter it either.
         */
        @Override
        public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
            if (failure instanceof NoSuchFileException || failure instanceof AccessDeniedException) {
                return FileVisitResult.CONTINUE;
            }
            throw failure;
        }
    }
}
