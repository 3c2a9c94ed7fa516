package org.opendedup.sar.index.silo;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.PrivateFiles;

/** The block files of an index, a file a block. Safe for use by many threads, except that one thread writes. */
final class BlockFiles {
    /** Blocks in a folder. */
    private static final int FOLDER_BLOCKS = 1024;

    private static final String SUFFIX = ".block";
    private static final String UNFINISHED = ".new";

    private final Directory directory;

    BlockFiles(Directory directory) {
        this.directory = directory;
    }

    /** Opens the block files in a folder, which is made if it is missing. */
    static BlockFiles in(Path folder) throws IOException {
        PrivateFiles.createFolders(folder);
        return new BlockFiles(FileDirectory.open(folder));
    }

    static String name(int number) {
        return String.format("%06x/%08x%s", number / FOLDER_BLOCKS, number, SUFFIX);
    }

    /**
     * Writes a block, over an earlier state of it. It is durable when the call returns; after a crash during the call
     * the file is as before, or new.
     *
     * @param bytes those of {@link BlockFormat}
     */
    void write(int number, ByteBuffer bytes) throws IOException {
        String name = name(number);
        if (directory.exists(name + UNFINISHED)) {
            directory.delete(name + UNFINISHED);
        }
        try (Output out = directory.create(name + UNFINISHED)) {
            out.append(bytes);
            out.force();
        }
        directory.rename(name + UNFINISHED, name);
        directory.sync();
    }

    /**
     * Reads a block, in one sequential read.
     *
     * @throws CorruptionException if the file is missing, damaged, or of another index
     */
    Block read(int number, long index) throws IOException {
        String name = name(number);
        try (Input in = directory.open(name)) {
            long length = in.length();
            if (!BlockFormat.isPossible(length)) {
                throw new CorruptionException(directory + "/" + name, -1, "a block", length + " bytes");
            }
            byte[] bytes = new byte[(int) length];
            in.readFully(0, ByteBuffer.wrap(bytes));
            return BlockFormat.decode(bytes, index, number, directory + "/" + name);
        } catch (NoSuchFileException e) {
            CorruptionException missing = new CorruptionException(directory + "/" + name, -1, "a block", "no file");
            missing.initCause(e);
            throw missing;
        }
    }

    /** Deletes all files except those of blocks 1 to {@code last}, and returns which of these are missing. */
    Set<Integer> keepOnly(int last) throws IOException {
        Set<String> missing = new HashSet<>();
        for (int number = 1; number <= last; number++) {
            missing.add(name(number));
        }
        boolean deleted = false;
        for (String name : directory.list()) {
            if (!missing.remove(name)) {
                directory.delete(name);
                deleted = true;
            }
        }
        if (deleted) {
            directory.sync();
        }
        Set<Integer> numbers = new HashSet<>();
        for (String name : missing) {
            numbers.add(Integer.parseInt(name, name.indexOf('/') + 1, name.length() - SUFFIX.length(), 16));
        }
        return numbers;
    }
}
