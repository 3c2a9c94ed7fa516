package org.opendedup.sar.raw;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.UUID;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.io.RandomFile;

/**
 * The backing files of a volume's raw files, each with a number. Safe for use by many threads. A crash may lose a file
 * that was made and not forced, and may bring back a file that was deleted. That there is no file means that the fast
 * tier is there and does not have it; while it is not there, every call fails.
 */
public interface RawFolder extends Closeable {
    /** How long a call may take until the fast tier counts as hanging: as long as for the copies on the SSD. */
    Duration ANSWER_LIMIT = Duration.ofSeconds(30);

    /** Opens the folder of a volume. */
    @FunctionalInterface
    interface Opener {
        /** @throws IOException if the fast tier is not there, or is not that of the volume; the message says so */
        RawFolder open(UUID volume) throws IOException;

        /** Returns how long a call of the folder may take until the fast tier counts as hanging. */
        default Duration answerLimit() {
            return ANSWER_LIMIT;
        }

        /** Returns how many files of the folder may be open at a time. */
        default int mostOpenFiles() {
            return Integer.MAX_VALUE;
        }
    }

    /** Returns the epoch of the volume in which the folder was used last; null if it does not say. */
    @Nullable
    Epoch epoch() throws IOException;

    /** Sets what {@link #epoch} returns, durably. */
    void setEpoch(Epoch used) throws IOException;

    /** Makes a new, empty file. {@link java.nio.file.FileAlreadyExistsException} if there is one with this number. */
    RandomFile create(long number) throws IOException;

    /** Opens a file. {@link java.nio.file.NoSuchFileException} if there is none. */
    RandomFile open(long number) throws IOException;

    /** Returns a file's status; null if there is none. */
    RandomFile.@Nullable Status status(long number) throws IOException;

    /** Deletes a file; does nothing if there is none. */
    void delete(long number) throws IOException;

    /** Returns whether no process, this one included, has the file open or mapped for writing. */
    boolean isAtRest(long number) throws IOException;

    /** Returns whether no process, this one included, has the file open or mapped. */
    boolean isUnused(long number) throws IOException;

    /** Makes everything durable: the bytes of all files, and which files exist. */
    void sync() throws IOException;

    /** Visits the numbers of all files, in no order. */
    void forEach(LongConsumer visitor) throws IOException;

    /** Returns the bytes that can still be written to the device. */
    long usableBytes() throws IOException;

    @Override
    void close();
}
