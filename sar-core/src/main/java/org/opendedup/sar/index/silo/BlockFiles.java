package org.opendedup.sar.index.silo;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileDirectory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.PrivateFiles;

/** The block files of an index, a file a block. Safe for use by many threads, except that one thread writes. */
final class BlockFiles {
    /** Blocks in a folder. */
    private static final int FOLDER_BLOCKS = 1024;

    private static final String SUFFIX = ".block";
    private static final Pattern NAME = Pattern.compile("[0-9a-f]{6}/([0-7][0-9a-f]{7})\\.block");

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
        AtomicFile.write(directory, name(number), bytes);
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
    BitSet keepOnly(int last) throws IOException {
        BitSet missing = new BitSet(last + 1);
        missing.set(1, last + 1);
        AtomicBoolean deleted = new AtomicBoolean();
        // One name after another: those of all blocks would take more memory than the index.
        directory.forEach(name -> {
            int number = number(name);
            if (missing.get(number)) {
                missing.clear(number);
            } else {
                directory.delete(name);
                deleted.set(true);
            }
        });
        if (deleted.get()) {
            directory.sync();
        }
        return missing;
    }

    /** Returns the number of the block with this file; 0 if it is none. */
    private static int number(String name) {
        Matcher block = NAME.matcher(name);
        int number = block.matches() ? Integer.parseInt(block.group(1), 16) : 0;
        return name.equals(name(number)) ? number : 0;
    }
}
