package org.opendedup.sar.sim.data;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.opendedup.sar.common.Printable;

/**
 * Finds the regular files below paths, each folder in the order of its names, so that the same data is read in the same
 * order wherever it is. Follows a symbolic link only if it is given as a path; reports a file with several names once;
 * skips devices, pipes and sockets. For one walk, by one thread. Memory: some 100 bytes for each file that has several
 * names, and the names of the folders that lead to a file.
 */
public final class DataFiles {
    /** Receives the files, and what could not be read. */
    public interface Visitor {
        /**
         * Starts another path.
         *
         * @param number number of the path, from 0
         * @param start the path itself, links resolved; the files that follow are it or below it
         */
        default void path(int number, Path start) throws IOException {}

        /** Receives a regular file. */
        void file(Path file, long bytes) throws IOException;

        /** Receives a file or folder that could not be examined; the walk continues. */
        void unreadable(Path path, IOException why) throws IOException;
    }

    /** Files with several names that were reported: device and inode. */
    private final Set<Object> linked = new HashSet<>();

    private final Visitor visitor;
    private long passedOver;

    private DataFiles(Visitor visitor) {
        this.visitor = visitor;
    }

    /**
     * Reports all files below the paths.
     *
     * @return number of names that were skipped: links, further names of a file, devices
     * @throws NoSuchFileException if a path does not exist
     */
    public static long walk(List<Path> paths, Visitor visitor) throws IOException {
        var files = new DataFiles(visitor);
        for (int number = 0; number < paths.size(); number++) {
            Path start = paths.get(number).toRealPath();
            visitor.path(number, start);
            files.visit(start);
        }
        return files.passedOver;
    }

    /** Returns a line that says what is wrong with a file or folder, whatever their names contain. */
    public static String problem(Path path, IOException why) {
        return Printable.line(words(path, why));
    }

    private static String words(Path path, IOException why) {
        if (why instanceof AccessDeniedException) {
            return path + ": this user may not read it";
        }
        if (why instanceof NoSuchFileException) {
            return path + ": does not exist any more";
        }
        String message = why.getMessage();
        return path + ": " + (message == null ? why.getClass().getSimpleName() : message);
    }

    private boolean isFirstName(Path file, BasicFileAttributes attributes) throws IOException {
        Object names = Files.getAttribute(file, "unix:nlink", LinkOption.NOFOLLOW_LINKS);
        Object identity = attributes.fileKey();
        return Integer.valueOf(1).equals(names) || identity == null || linked.add(identity);
    }

    private void visit(Path path) throws IOException {
        boolean isFolder = false;
        boolean isTold = false;
        long bytes = 0;
        try {
            var attributes = Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            isFolder = attributes.isDirectory();
            isTold = attributes.isRegularFile() && isFirstName(path, attributes);
            bytes = attributes.size();
        } catch (IOException e) {
            visitor.unreadable(path, e);
            return;
        }
        if (isFolder) {
            for (Path each : sorted(path)) {
                visit(each);
            }
        } else if (isTold) {
            visitor.file(path, bytes);
        } else {
            passedOver++;
        }
    }

    /** Returns the entries of a folder that can be listed, sorted by name. */
    private List<Path> sorted(Path folder) throws IOException {
        List<Path> names = new ArrayList<>();
        try (DirectoryStream<Path> listing = Files.newDirectoryStream(folder)) {
            listing.forEach(names::add);
        } catch (DirectoryIteratorException e) {
            visitor.unreadable(folder, Objects.requireNonNull(e.getCause()));
        } catch (IOException e) {
            visitor.unreadable(folder, e);
        }
        Collections.sort(names);
        return names;
    }
}
