package org.opendedup.sar.sim.data;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the regular files below paths, in the order in which folders list them. Symbolic links are followed where they are given as a
 * path, nowhere else; a file with several names is told once; devices, pipes and sockets are passed over. For one walk, by one
 * thread. Memory: some 100 bytes for each file that has several names.
 */
public final class DataFiles {
    /** Is told of files, and of what could not be read. */
    public interface Visitor {
        /** What follows is below the path of this number, from 0 on. */
        default void path(int number) throws IOException {}

        /** A regular file. */
        void file(Path file, long bytes) throws IOException;

        /** A file or folder that could not be looked at; the walk goes on. */
        void unreadable(Path path, IOException why) throws IOException;
    }

    /** Files with several names that were told: device and inode. */
    private final Set<Object> linked = new HashSet<>();

    private final Visitor visitor;
    private long passedOver;

    private DataFiles(Visitor visitor) {
        this.visitor = visitor;
    }

    /**
     * Tells all files below the paths.
     *
     * @return how many names were passed over: links, further names of a file, devices
     * @throws NoSuchFileException if a path is not there
     */
    public static long walk(List<Path> paths, Visitor visitor) throws IOException {
        var files = new DataFiles(visitor);
        for (int number = 0; number < paths.size(); number++) {
            Path start = paths.get(number).toRealPath();
            visitor.path(number);
            Files.walkFileTree(start, files.new Walk());
        }
        return files.passedOver;
    }

    /** A line that says what is wrong with a file or folder. */
    public static String problem(Path path, IOException why) {
        if (why instanceof AccessDeniedException) {
            return path + ": this user may not read it";
        }
        if (why instanceof NoSuchFileException) {
            return path + ": is gone";
        }
        String message = why.getMessage();
        return path + ": " + (message == null ? why.getClass().getSimpleName() : message);
    }

    private boolean isFirstName(Path file, BasicFileAttributes attributes) throws IOException {
        Object names = Files.getAttribute(file, "unix:nlink", LinkOption.NOFOLLOW_LINKS);
        Object identity = attributes.fileKey();
        return Integer.valueOf(1).equals(names) || identity == null || linked.add(identity);
    }

    private final class Walk extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            boolean told;
            try {
                told = attributes.isRegularFile() && isFirstName(file, attributes);
            } catch (IOException e) {
                return visitFileFailed(file, e);
            }
            if (told) {
                visitor.file(file, attributes.size());
            } else {
                passedOver++;
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path path, IOException why) throws IOException {
            visitor.unreadable(path, why);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException why) throws IOException {
            if (why != null) {
                visitor.unreadable(folder, why);
            }
            return FileVisitResult.CONTINUE;
        }
    }
}
