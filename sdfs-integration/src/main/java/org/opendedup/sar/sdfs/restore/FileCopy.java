package org.opendedup.sar.sdfs.restore;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.restore.frame.StopCheck;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.node.OpenFile;
import org.opendedup.sar.volume.posix.Attributes;
import org.opendedup.sar.volume.posix.InodeState;

/**
 * Copies files by reading them, as programs do: those that are written to while the references of their chunks are
 * looked for, and those with bytes that cannot be stored in chunks now. For use by one thread.
 */
final class FileCopy {
    private static final int PIECE_BYTES = 256 << 10;

    private final Volume volume;
    private final Destination destination;
    private final RestoreProgress progress;
    private final StopCheck stop;
    private final byte[] piece = new byte[PIECE_BYTES];

    FileCopy(Volume volume, Destination destination, RestoreProgress progress, StopCheck stop) {
        this.volume = volume;
        this.destination = destination;
        this.progress = progress;
        this.stop = stop;
    }

    /**
     * Copies a file that was made at the destination. Reports what cannot be read, which becomes a hole.
     *
     * @return its attributes before its bytes were read; null if it cannot be opened
     */
    @Nullable
    InodeState copy(long number, TreeEntry entry) throws IOException {
        OpenFile file;
        try {
            file = volume.open(entry.inode(), false);
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            progress.damaged(destination.text(entry) + ": " + e.getMessage());
            return null;
        }
        try {
            Attributes before = volume.attributes(entry.inode());
            InodeState state = new InodeState(before, TreeWalk.extendedAttributes(volume, entry.inode()));
            if (!destination.clear(number, before.size())) {
                return state;
            }
            copy(number, entry, file, before.size());
            Attributes after = volume.attributes(entry.inode());
            if (after.size() < before.size()) {
                destination.setLength(number, after.size());
            }
            // The time of the last change, too: a program may write, and set the time of modification back.
            if (after.size() != before.size()
                    || after.modifiedNs() != before.modifiedNs()
                    || after.changedNs() != before.changedNs()) {
                progress.changing(destination.text(entry)
                        + ": its bytes are of several moments, because a program wrote to it while it was read");
            }
            return state;
        } finally {
            volume.close(file);
        }
    }

    /** Copies the bytes below {@code size}, but for holes. */
    private void copy(long number, TreeEntry entry, OpenFile file, long size) throws IOException {
        int wanted;
        for (long at = next(file, 0, size); at < size; at = next(file, at + wanted, size)) {
            stop.check();
            wanted = (int) Math.min(PIECE_BYTES, size - at);
            int length;
            try {
                length = volume.read(file, at, ByteBuffer.wrap(piece, 0, wanted));
            } catch (InterruptedIOException e) {
                throw e;
            } catch (IOException e) {
                progress.damaged(
                        destination.text(entry) + ": " + wanted + " bytes at offset " + at + ": " + e.getMessage());
                continue;
            }
            destination.write(number, at, piece, 0, length);
            progress.copied(length);
        }
    }

    /** Returns the next offset that may have data; {@code size} if there is none. */
    private long next(OpenFile file, long offset, long size) throws IOException {
        if (offset >= size) {
            return size;
        }
        try {
            return volume.seekData(file, offset);
        } catch (InterruptedIOException e) {
            throw e;
        } catch (IOException e) {
            boolean isAtEnd = e instanceof PosixException posix && posix.reason() == PosixException.Reason.ENXIO;
            // What cannot be looked for is read.
            return isAtEnd ? size : offset;
        }
    }
}
